"""People of the tests: how they join, their names, and what the audit log says about them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from monitoring.audit.actors import COMMAND_LINE, Actor
from monitoring.audit.models import AuditEntry
from monitoring.members.invitations import accept_invitation, invite
from monitoring.members.models import Role, Session, User
from monitoring.members.refusals import SENTENCES, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from monitoring.auth.models import Team

PASSWORD = "correct horse battery"
ANOTHER_PASSWORD = "staple of correct horses"


async def join(team: Team, email: str, role: Role = Role.MEMBER) -> User:
    """Invite somebody and accept the invitation."""
    invited = await invite(team.id, email, role, by=COMMAND_LINE)
    return await accept_invitation(invited.code, email.partition("@")[0].title(), PASSWORD)


def acting(user: User) -> Actor:
    return Actor(user.email, user.id, "192.0.2.7")


@contextmanager
def refused(name: str) -> Iterator[None]:
    assert name in SENTENCES
    with pytest.raises(Refused) as raised:
        yield
    assert raised.value.name == name


async def count_sessions(user: User) -> int:
    return await Session.filter(user_id=user.id).count()


async def read_acts(team_id: UUID) -> list[tuple[str, str, str]]:
    """Return who did what to whom, oldest first."""
    entries = await AuditEntry.filter(team_id=team_id).order_by("id")
    return [(entry.actor, entry.action, entry.subject) for entry in entries]


async def read_roles(team_id: UUID) -> dict[str, str]:
    return {user.email: user.role for user in await User.filter(team_id=team_id)}
