"""A team whose things all have odd names, and every page that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from browser.acme.channels import find_email_token
from browser.acme.incidents import find_acknowledge_token
from browser.acme.people import Member, join
from browser.possessions import fill_in, list_pages
from incidents.breakdowns import open_incident
from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.service import record
from monitoring.auth.service import create_key, create_team, revoke_key
from monitoring.incidents.models import Incident
from monitoring.incidents.responding import write_note
from monitoring.members.invitations import invite
from monitoring.members.models import Role
from monitoring.monitors.maintenance.service import create_window
from monitoring.monitors.service import create_monitor
from monitoring.notifications.email_links import write_confirmation_link, write_unsubscribe_link
from monitoring.notifications.models import NotificationChannel
from monitoring.notifications.service import create_channel

if TYPE_CHECKING:
    from collections.abc import Sequence

SCOPES = ["monitors:read", "monitors:write"]


@dataclass(frozen=True, slots=True)
class Texts:
    """The names of things. Emails get a letter in front, which makes them different."""

    team: str
    person: str
    email: str
    key: str
    monitors: Sequence[dict[str, Any]]
    error_message: str


@dataclass(frozen=True, slots=True)
class OddTeam:
    """The team's owner, and ids for paths: one set for each monitor."""

    owner: Member
    ids: Sequence[dict[str, object]]

    def fill_in(self, address: str) -> str:
        """Put the first ids into an address."""
        return fill_in(address, self.ids[0])

    def list_paths(self, address: str) -> list[str]:
        """Return the paths of an address, one for each thing of its kind."""
        return sorted({fill_in(address, ids) for ids in self.ids})


# Pages for strangers show no names, and articles belong to no team: their own tests deliver some.
OTHERS = (
    "/acknowledge",
    "/articles",
    "/confirm-email",
    "/forgotten-password",
    "/join",
    "/new-password",
    "/sign-in",
    "/unsubscribe",
)
ADDRESSES = [address for address in list_pages() if not address.startswith(OTHERS)]

# Pages that change with their query.
PROPOSALS = [
    "/acknowledge?token={acknowledge_token}",
    "/settings/maintenance/new?monitor={monitor_id}",
    "/confirm-email?token={confirmation_token}",
    "/unsubscribe?token={unsubscribe_token}",
    "/settings/api-keys/rotation?old={client_id}",
    "/settings/api-keys/new?old={client_id}",
]


async def form_odd_team(texts: Texts) -> OddTeam:
    """Make one of everything that has a name."""
    team = await create_team(texts.team, "free", 10)
    owner = await join(team, Role.OWNER, f"a{texts.email}", texts.person)
    member = await join(team, Role.MEMBER, f"b{texts.email}", texts.person)
    invited = await invite(team.id, f"c{texts.email}", Role.MEMBER, by=Actor(f"d{texts.email}"))
    key, revoked = [(await create_key(team, texts.key, SCOPES, by=member.actor)).key for _ in range(2)]
    await revoke_key(revoked.client_id, team_id=team.id, by=owner.actor)
    url = texts.monitors[0]["url"]
    channel = await create_channel(team.id, {"type": "webhook", "name": texts.key, "url": url})
    disabled = await create_channel(team.id, {"type": "slack", "name": texts.key, "url": url})
    reason = texts.error_message[:255]  # which may quote what a provider answered
    await NotificationChannel.filter(id=disabled.id).update(enabled=False, disabled_reason=reason)
    shop = {"name": texts.key, "tags": ["nobodys"], "duration_seconds": 600}
    window = await create_window(team.id, shop)
    email = await create_channel(team.id, {"type": "email", "name": texts.key, "address": "ops@example.com"})
    ids = []
    for given in texts.monitors:
        monitor = await create_monitor(team.id, given)
        await record(team.id, owner.actor, Action.MONITOR_CREATED, monitor.name, monitor.id)
        await open_incident(
            monitor,
            started_at=monitor.created_at,
            confirmed_at=monitor.created_at,
            error="unexpected_status",
            error_message=texts.error_message,
        )
        incident = await Incident.get(monitor_id=monitor.id)
        await write_note(team.id, incident.id, owner.actor, texts.error_message)
        ids.append(
            {
                "monitor_id": monitor.id,
                "window_id": window.id,
                "channel_id": channel.id,
                "incident_id": incident.id,
                "acknowledge_token": await find_acknowledge_token(incident.id),
                "confirmation_token": await find_email_token(write_confirmation_link, email.id),
                "unsubscribe_token": await find_email_token(write_unsubscribe_link, email.id),
                "client_id": key.client_id,
                "user_id": member.user.id,
                "invitation_id": invited.invitation.id,
            }
        )
    return OddTeam(owner, ids)
