"""Team sandboxes. A sandbox is a separate team for testing, in which everything is simulated.

All data is separated by team id, so live and sandbox data never mix.
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

# "Last used" is accurate to the minute, which avoids a write for every page.
_USED_GRAIN = timedelta(minutes=1)


async def open_sandbox(team_id: UUID) -> Team:
    """Return a team's sandbox, creating it with the team's plan if it does not exist."""
    if sandbox := await Team.get_or_none(sandbox_of_id=team_id):
        return sandbox
    async with transaction():
        team = await Team.lock(team_id)
        sandbox = await Team.get_or_none(sandbox_of_id=team_id)
        return sandbox or await _make_sandbox(team)


async def visit_sandbox(team_id: UUID) -> Team:
    """Return a team's sandbox, creating it if necessary, and record that it is in use."""
    sandbox, now = await open_sandbox(team_id), datetime.now(UTC)
    if sandbox.sandbox_used_at is None or now - sandbox.sandbox_used_at > _USED_GRAIN:
        await note_use(sandbox.id, now)
    return sandbox


async def note_use(sandbox_id: UUID, now: datetime) -> None:
    """Record that a sandbox is in use, so that its monitors are checked at short intervals."""
    await Team.filter(id=sandbox_id).update(sandbox_used_at=now)


async def is_sandbox(team_id: UUID) -> bool:
    """Return whether a team is a sandbox."""
    return await Team.exists(id=team_id, sandbox_of_id__isnull=False)


async def demand_sandbox(team_id: UUID) -> None:
    """Raise `Problem("sandbox_only")` unless the team is a sandbox."""
    if not await is_sandbox(team_id):
        raise Problem("sandbox_only")


async def _make_sandbox(team: Team) -> Team:
    sandbox_id, now = uuid7(), datetime.now(UTC)
    name = team.name[: MAX_NAME_CHARACTERS - len(_SUFFIX)] + _SUFFIX
    if await Team.exists(name=name):  # another team has this name
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
