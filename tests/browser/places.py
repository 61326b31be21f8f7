"""Every page of the app, those that answer forms too, by a name that can be a file's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from browser.acme.articles import MARKED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.acme.people import Member
    from browser.acme.team import Acme
    from browser.chromium import Person


@dataclass(frozen=True, slots=True)
class Place:
    """A page, reached by its address and then by sending the forms on the way, one by one.

    A dict maps fields to what is typed into them; Acme's ids are in braces.
    """

    path: str
    sent: tuple[Mapping[str, str], ...] = ()
    status: int = 200
    who: Literal["stranger", "newcomer", "member", "owner"] = "owner"

    def find_visitor(self, acme: Acme) -> Member | None:
        """Return who goes there, or None for somebody who has not signed in."""
        return None if self.who == "stranger" else getattr(acme, self.who)

    def visit(self, person: Person, acme: Acme) -> None:
        """Go there. Raises AssertionError if the page has another status."""
        answer = person.open(self.path.format(acme=acme))
        for form in self.sent:
            answer = person.fill_in({name: text.format(acme=acme) for name, text in form.items()})
        assert (self, answer.status) == (self, self.status)


_OWNER = "/settings/members/{acme.owner.user.id}"
_MEMBER = "/settings/members/{acme.member.user.id}"

_SEGMENT = f"/articles/{{acme.articles[whole]}}/es/segments/{MARKED}"

# Pages of forms come last, because what forms do changes other pages.
PLACES = {
    "sign-in": Place("/sign-in", who="stranger"),
    "join": Place("/join", who="stranger"),
    "forgotten-password": Place("/forgotten-password", who="stranger"),
    "new-password": Place("/new-password?token={acme.password_token}", who="stranger"),
    "new-password-expired": Place("/new-password", status=404, who="stranger"),
    "acknowledge": Place("/acknowledge?token={acme.acknowledge_token}", who="stranger"),
    "email-confirm": Place("/confirm-email?token={acme.confirmation_token}", who="stranger"),
    "email-unsubscribe": Place("/unsubscribe?token={acme.unsubscribe_token}", who="stranger"),
    "email-refused": Place("/unsubscribe", status=404, who="stranger"),
    "acknowledge-refused": Place("/acknowledge", status=404, who="stranger"),
    "monitors": Place("/monitors"),
    "monitors-none": Place("/monitors", who="newcomer"),
    "monitors-compact": Place("/monitors?density=compact"),
    "monitors-by-tag": Place("/monitors?group=tag"),
    "monitors-none-found": Place("/monitors?search=nothing+is+called+so"),
    "monitors-refused": Place("/monitors?search=shop&tag=No+tag", status=400),
    "monitor-new": Place("/monitors/new"),
    "monitor-new-tcp": Place("/monitors/new?type=tcp"),
    "monitor-up": Place("/monitors/{acme.monitors[up]}"),
    "monitor-up-90-days": Place("/monitors/{acme.monitors[up]}?range=90d"),
    "monitor-degraded": Place("/monitors/{acme.monitors[degraded]}"),
    "monitor-down": Place("/monitors/{acme.monitors[down]}"),
    "monitor-recovered": Place("/monitors/{acme.monitors[recovered]}"),
    "monitor-paused": Place("/monitors/{acme.monitors[paused]}"),
    "monitor-maintenance": Place("/monitors/{acme.monitors[maintenance]}"),
    "monitor-pending": Place("/monitors/{acme.monitors[pending]}"),
    "monitor-edit": Place("/monitors/{acme.monitors[degraded]}/edit"),
    "monitor-delete": Place("/monitors/{acme.monitors[paused]}/delete"),
    "incidents": Place("/incidents"),
    "incidents-none": Place("/incidents", who="newcomer"),
    "incident": Place("/incidents/{acme.incidents[open]}"),
    "incident-resolved": Place("/incidents/{acme.incidents[resolved]}"),
    "incident-note": Place("/incidents/{acme.incidents[open]}/notes"),
    "incident-note-refused": Place("/incidents/{acme.incidents[resolved]}/notes", ({"text": " "},), 400),
    "articles": Place("/articles"),
    "articles-found": Place("/articles?search=SHOES"),
    "articles-none-found": Place("/articles?search=nothing+is+called+so&status=failed"),
    "article-costs": Place("/articles/costs"),
    "article": Place("/articles/{acme.articles[whole]}"),
    "article-failed": Place("/articles/{acme.articles[failed]}"),
    "article-unpublish": Place("/articles/{acme.articles[whole]}/unpublish"),
    "article-delete": Place("/articles/{acme.articles[whole]}/delete"),
    "article-retranslate": Place("/articles/{acme.articles[whole]}/retranslate"),
    "article-translation": Place("/articles/{acme.articles[whole]}/es"),
    "article-segments": Place("/articles/{acme.articles[whole]}/es/segments"),
    "article-segments-refused": Place("/articles/{acme.articles[whole]}/es/segments?show=refused"),
    "article-segment": Place(_SEGMENT),
    "api-keys": Place("/settings/api-keys"),
    "api-keys-none": Place("/settings/api-keys", who="newcomer"),
    "api-key-new": Place("/settings/api-keys/new"),
    "api-key-revoke": Place("/settings/api-keys/{acme.keys[deploy]}/revoke"),
    "api-key-rotation": Place("/settings/api-keys/rotation"),
    "api-key-rotation-of-one": Place("/settings/api-keys/rotation?old={acme.keys[deploy]}"),
    "channels": Place("/settings/notifications"),
    "channels-none": Place("/settings/notifications", who="newcomer"),
    "channel-choose": Place("/settings/notifications/new"),
    "channel-new": Place("/settings/notifications/new?type=custom"),
    "channel-change": Place("/settings/notifications/{acme.channels[chat]}"),
    "channel-deliveries": Place("/settings/notifications/{acme.channels[chat]}/deliveries"),
    "channel-deliveries-of-email": Place("/settings/notifications/{acme.channels[mailbox]}/deliveries"),
    "channel-delete": Place("/settings/notifications/{acme.channels[chat]}/delete"),
    "maintenance": Place("/settings/maintenance"),
    "maintenance-none": Place("/settings/maintenance", who="newcomer"),
    "maintenance-new": Place("/settings/maintenance/new?monitor={acme.monitors[up]}"),
    "maintenance-change": Place("/settings/maintenance/{acme.windows[weekly]}"),
    "maintenance-delete": Place("/settings/maintenance/{acme.windows[active]}/delete"),
    "members": Place("/settings/members"),
    "member": Place(_MEMBER),
    "member-reset": Place(f"{_MEMBER}/reset-code"),
    "member-remove": Place(f"{_MEMBER}/remove"),
    "member-invite": Place("/settings/members/invite"),
    "member-withdraw": Place("/settings/members/invitations/{acme.invited.invitation.id}/withdraw"),
    "account": Place("/settings/account"),
    "account-name": Place("/settings/account/name"),
    "account-password": Place("/settings/account/password"),
    "audit-log": Place("/settings/audit-log"),
    "plan": Place("/settings/plan"),
    "not-found": Place("/nowhere", status=404),
    "owners-only": Place("/settings/audit-log", status=403, who="member"),
    "sign-in-refused": Place(
        "/sign-in", ({"email": "{acme.owner.email}", "password": "a guess"},), 400, "stranger"
    ),
    "forgotten-password-refused": Place(
        "/forgotten-password", ({"email": "alice@acme example"},), 400, "stranger"
    ),
    "forgotten-password-asked": Place(
        "/forgotten-password", ({"email": "nobody@acme.example"},), who="stranger"
    ),
    "new-password-refused": Place(
        "/new-password?token={acme.password_token}", ({"password": "short"},), 400, "stranger"
    ),
    "join-refused": Place("/join", ({"code": "mon_invite_of-long-ago"},), 400, "stranger"),
    "join-accept": Place("/join", ({"code": "{acme.invited.code}"},), who="stranger"),
    "join-accept-refused": Place(
        "/join",
        ({"code": "{acme.invited.code}"}, {"name": "Dan Dimitrov", "password": "short"}),
        400,
        "stranger",
    ),
    "join-new-password": Place("/join", ({"code": "{acme.reset.code}"},), who="stranger"),
    "monitor-new-refused": Place(
        "/monitors/new", ({"url": "shop.acme.example", "name": "Shop", "timeout_seconds": "soon"},), 400
    ),
    "monitor-new-tried": Place("/monitors/new", ({"url": "http://127.0.0.1/", "try": "on"},)),
    "monitors-delete-selected": Place(
        "/monitors/selected?search=Old+shop", ({"act": "delete", "monitor": "{acme.monitors[paused]}"},)
    ),
    "monitor-edit-conflict": Place(
        "/monitors/{acme.monitors[degraded]}/edit",
        ({"version": "0", "name": "Checkout", "tags": "shop, api, v2"},),
        412,
    ),
    "article-segment-refused": Place(_SEGMENT, ({"text": "Los zapatos que <g2>ajustan</g2>"},), 400),
    "api-key-new-refused": Place("/settings/api-keys/new", ({"name": "", "scopes": ""},), 400),
    "api-key-created": Place(
        "/settings/api-keys/new?old={acme.keys[deploy]}", ({"name": "Deploy, next year"},)
    ),
    "api-key-created-before": Place(
        "/settings/api-keys/new", ({"form_id": "{acme.key_ids[deploy]}", "name": "Deploy"},), 409
    ),
    "api-key-revoke-refused": Place(
        "/settings/api-keys/{acme.keys[deploy]}/revoke", ({"understood": ""},), 400
    ),
    "channel-new-refused": Place(
        "/settings/notifications/new?type=pagerduty", ({"routing_key": "a key"},), 400
    ),
    "channel-change-refused": Place(
        "/settings/notifications/{acme.channels[chat]}", ({"routing_tags": "not a tag!"},), 400
    ),
    "email-unsubscribed": Place("/unsubscribe?token={acme.unsubscribe_token}", ({},), who="stranger"),
    "channel-asked-for-email": Place(
        "/settings/notifications/new?type=email", ({"address": "all@acme.example"},)
    ),
    "channel-created": Place(
        "/settings/notifications/new?type=webhook", ({"url": "https://pager.acme.example/hooks"},)
    ),
    "maintenance-new-refused": Place(
        "/settings/maintenance/new",
        ({"time_zone": "Mars/Olympus", "tags": "Blog", "name": "x" * 101},),
        422,
    ),
    "maintenance-change-refused": Place(
        "/settings/maintenance/{acme.windows[weekly]}", ({"time_zone": "Mars/Olympus"},), 422
    ),
    "member-invited": Place("/settings/members/invite", ({"email": "frank@acme.example"},)),
    "member-invite-refused": Place("/settings/members/invite", ({"email": "{acme.member.email}"},), 400),
    "member-role-refused": Place(_OWNER, ({"role": "member"},), 400),
    "member-remove-refused": Place(f"{_OWNER}/remove", ({},), 400),
    "member-reset-code": Place(f"{_MEMBER}/reset-code", ({},)),
    "account-name-refused": Place("/settings/account/name", ({"name": " "},), 400),
    "account-password-refused": Place(
        "/settings/account/password",
        ({"current_password": "a guess", "new_password": "a new pass phrase"},),
        400,
    ),
}
