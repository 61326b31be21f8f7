"""The sandbox of a team: a team behind the team, in which nothing is real.

Whatever belongs to a team is kept apart by its id, so the two worlds never meet.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from monitoring.auth.models import Team
from monitoring.auth.names import MAX_NAME_CHARACTERS
from monitoring.backends.database import transaction
from monitoring.backends.fields import uuid7
from monitoring.contract.problems import Problem

_SUFFIX = " (sandbox)"

# "Last used" is accurate to the minute, which saves a write with every page.
_USED_GRAIN = timedelta(minutes=1)


async def open_sandbox(team_id: UUID) -> Team:
    """Return a team's sandbox, which is made when somebody asks for it first. It has the team's plan."""
    if sandbox := await Team.get_or_none(sandbox_of_id=team_id):
        return sandbox
    async with transaction():
        team = await Team.lock(team_id)
        sandbox = await Team.get_or_none(sandbox_of_id=team_id)
        return sandbox or await _make_sandbox(team)


async def visit_sandbox(team_id: UUID) -> Team:
    """Return a team's sandbox as `open_sandbox` does, and note that it is in use."""
    sandbox, now = await open_sandbox(team_id), datetime.now(UTC)
    if sandbox.sandbox_used_at is None or now - sandbox.sandbox_used_at > _USED_GRAIN:
        await note_use(sandbox.id, now)
    return sandbox


async def note_use(sandbox_id: UUID, now: datetime) -> None:
    """Note that a sandbox is in use, so that its monitors are checked at short intervals."""
    await Team.filter(id=sandbox_id).update(sandbox_used_at=now)


async def is_sandbox(team_id: UUID) -> bool:
    """Return whether a team is a sandbox."""
    return await Team.exists(id=team_id, sandbox_of_id__isnull=False)


async def demand_sandbox(team_id: UUID) -> None:
    """Raise `Problem("sandbox_only")` for a team that is none."""
    if not await is_sandbox(team_id):
        raise Problem("sandbox_only")


async def _make_sandbox(team: Team) -> Team:
    sandbox_id, now = uuid7(), datetime.now(UTC)
    name = team.name[: MAX_NAME_CHARACTERS - len(_SUFFIX)] + _SUFFIX
    if await Team.exists(name=name):  # somebody has called a team so
        name = f"{sandbox_id}{_SUFFIX}"
    return await Team.create(
        id=sandbox_id,
        name=name,
        plan=team.plan,
        max_monitors=team.max_monitors,
        created_at=now,
        sandbox_of=team,
        sandbox_used_at=now,
    )
