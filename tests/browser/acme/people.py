"""Acme's people, their keys, and the entries of their audit log."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor, key_holder
from monitoring.audit.changes import Change
from monitoring.audit.models import AuditEntry
from monitoring.audit.service import record
from monitoring.auth.models import ApiKey
from monitoring.auth.scopes import SCOPES
from monitoring.auth.service import create_key, revoke_key
from monitoring.members.invitations import accept_invitation, invite, make_reset_code
from monitoring.members.models import PasswordLink, Role, User
from monitoring.members.password_links import LIFETIME, write_link
from monitoring.members.sessions import begin_session

if TYPE_CHECKING:
    from uuid import UUID

    from monitoring.auth.models import Team
    from monitoring.members.invitations import Invited

ADDRESS = "203.0.113.24"
PASSWORD = "correct horse battery staple"

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.1 Mobile/15E148 Safari/604.1"  # noqa: E501

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody who can sign in."""

    user: User
    email: str
    password: str = PASSWORD

    @property
    def actor(self) -> Actor:
        """The person, as the audit log names them."""
        return Actor(self.email, self.user.id, ADDRESS)


async def join(team: Team, role: Role, email: str = "", name: str = "Somebody") -> Member:
    """Let a person join a team, as in the app."""
    email = email or f"somebody{next(_numbers)}@acme.example"
    invited = await invite(team.id, email, role, by=Actor("command line"))
    user = await accept_invitation(invited.code, name, PASSWORD, address=ADDRESS)
    return Member(user, email)


async def make_people(team: Team) -> tuple[Member, Member, Invited, Invited]:
    """Let an owner and some members join. Others are invited, and one lost her password.

    Return the owner, a member, an invitation, and the code for a new password.
    """
    owner = await join(team, Role.OWNER, "alice@acme.example", "Alice Almeida")
    member = await join(team, Role.MEMBER, "bob@acme.example", "Bob Bergström")
    grace = await join(
        team,
        Role.MEMBER,
        "grace.oyelaran-featherstonehaugh@engineering.acme.example",
        "Grace Oyelaran-Featherstonehaugh",
    )
    await join(team, Role.VIEWER, "heidi@partner.example", "Heidi Huber")
    invited = await invite(team.id, "dan@acme.example", Role.MEMBER, by=owner.actor)
    await invite(team.id, "erin@partner.example", Role.OWNER, by=owner.actor)
    for browser in (FIREFOX, SAFARI):
        await begin_session(owner.user, browser, address=ADDRESS)
    await begin_session(member.user, FIREFOX, address=ADDRESS)
    reset = await make_reset_code(team.id, grace.user.id, by=owner.actor)
    return owner, member, invited, reset


async def make_password_token(member: Member) -> str:
    """Make a link for a new password that was sent to a member, and return its token."""
    now = datetime.now(UTC)
    link = await PasswordLink.create(user_id=member.user.id, created_at=now, expires_at=now + LIFETIME)
    return write_link(link, "").partition("token=")[2]


async def make_keys(team: Team, owner: Member) -> dict[str, ApiKey]:
    """Make keys and return them by what they show: deploy, reader, unused, revoked."""
    now = datetime.now(UTC)
    plan = [
        ("revoked", "Deploy 2025", list(SCOPES), timedelta(days=400), timedelta(days=31)),
        ("reader", "Dashboard in the hall", ["monitors:read"], timedelta(days=190), timedelta(hours=1)),
        ("deploy", "Deploy", list(SCOPES), timedelta(days=34), timedelta(minutes=20)),
        ("unused", "Terraform (staging)", list(SCOPES), timedelta(hours=5), None),
    ]
    made = {}
    for shows, name, scopes, age, silence in plan:
        key = (await create_key(team, name, scopes, by=owner.actor)).key
        await ApiKey.filter(id=key.id).update(
            created_at=now - age, last_used_at=None if silence is None else now - silence
        )
        made[shows] = key
    await revoke_key(made["revoked"].client_id, team_id=team.id, by=owner.actor)
    await ApiKey.filter(id=made["revoked"].id).update(revoked_at=now - timedelta(days=30))
    return made


async def tell_what_was_done(team: Team, owner: Member, member: Member, monitor_ids: dict[str, UUID]) -> None:
    """Fill the audit log, and spread it over some days."""
    for name, shows in (("Web shop", "up"), ("Checkout API", "degraded"), ("Newsletter sign-up", "down")):
        await record(team.id, owner.actor, Action.MONITOR_CREATED, name, monitor_ids[shows])
    changes = [
        Change("interval_seconds", "300", "60"),
        Change("request_headers.Authorization", "********", "********"),
        Change("tags", "", "shop, api"),
    ]
    checkout_id = monitor_ids["degraded"]
    await record(team.id, member.actor, Action.MONITOR_UPDATED, "Checkout API", checkout_id, changes)
    program = key_holder("Deploy", "mon_live_of-the-pipeline", ADDRESS)
    await record(team.id, program, Action.MAINTENANCE_CREATED, "Release 2026.47")
    old_shop = "Old shop, read only until the end of the year"
    await record(team.id, member.actor, Action.MONITOR_PAUSED, old_shop, monitor_ids["paused"])
    elsewhere = replace(member.actor, address="2001:db8:4:17::c0de")
    await record(team.id, elsewhere, Action.CHECK_REQUESTED, "Newsletter sign-up", monitor_ids["down"])
    happened_at = datetime.now(UTC) - timedelta(minutes=3)
    for entry in await AuditEntry.filter(team_id=team.id).order_by("-id"):
        await AuditEntry.filter(id=entry.id).update(happened_at=happened_at)
        happened_at -= timedelta(hours=3, minutes=47)
