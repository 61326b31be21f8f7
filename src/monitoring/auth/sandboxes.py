"""The sandbox of a team: a team behind the team, in which nothing is real.

Whatever belongs to a team is kept apart by its id, so the two worlds never meet.
"""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from monitoring.auth.models import Team
from monitoring.auth.names import MAX_NAME_CHARACTERS
from monitoring.backends.database import transaction
from monitoring.backends.fields import uuid7
from monitoring.contract.problems import Problem

_SUFFIX = " (sandbox)"


async def open_sandbox(team_id: UUID) -> Team:
    """Return a team's sandbox, which is made when somebody asks for it first. It has the team's plan."""
    if sandbox := await Team.get_or_none(sandbox_of_id=team_id):
        return sandbox
    async with transaction():
        team = await Team.select_for_update(no_key=True).get(id=team_id)
        sandbox = await Team.get_or_none(sandbox_of_id=team_id)
        return sandbox or await _make_sandbox(team)


async def is_sandbox(team_id: UUID) -> bool:
    """Return whether a team is a sandbox."""
    return await Team.exists(id=team_id, sandbox_of_id__isnull=False)


async def demand_sandbox(team_id: UUID) -> None:
    """Raise `Problem("sandbox_only")` for a team that is none."""
    if not await is_sandbox(team_id):
        raise Problem("sandbox_only")


async def _make_sandbox(team: Team) -> Team:
    sandbox_id = uuid7()
    name = team.name[: MAX_NAME_CHARACTERS - len(_SUFFIX)] + _SUFFIX
    if await Team.exists(name=name):  # somebody has called a team so
        name = f"{sandbox_id}{_SUFFIX}"
    return await Team.create(
        id=sandbox_id,
        name=name,
        plan=team.plan,
        max_monitors=team.max_monitors,
        created_at=datetime.now(UTC),
        sandbox_of=team,
    )
