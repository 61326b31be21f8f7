"""The places of a team's plan: the statement that stores a monitor takes one for it.

Requests that ask in the same turn of the event loop share a statement, and so one commit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.backends.current import current_backends
from monitoring.backends.database import is_in_transaction
from monitoring.backends.inserts import Guard, insert_guarded, insert_owned
from monitoring.backends.statements import is_postgres

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from tortoise.models import Model

    from monitoring.backends.rounds import Take

# The second value says whether a team with maintenance windows may take one: then more is to be done.
_TAKE_ONE = """
    UPDATE teams SET monitors_count = monitors_count + 1
    WHERE id = $1 AND monitors_count < max_monitors AND ($2 OR NOT may_have_maintenance)
    RETURNING id
"""

# A team whose row is locked is left out, so that the others do not wait for it.
_TAKE_SEVERAL = """
    UPDATE teams SET monitors_count = monitors_count + asked.places
    FROM
        (SELECT owner, count(*) AS places FROM given GROUP BY owner) AS asked,
        (SELECT id FROM teams WHERE id IN (SELECT owner FROM given) FOR NO KEY UPDATE SKIP LOCKED) AS free
    WHERE teams.id = asked.owner AND teams.id = free.id
        AND monitors_count + asked.places <= max_monitors AND NOT may_have_maintenance
    RETURNING teams.id
"""


async def take_place(team_id: UUID, rows: Sequence[Model], *, heeds_windows: bool = False) -> bool:
    """Store the rows of a new monitor, or return False if the plan is full.

    A team that may have maintenance windows is refused too, unless the caller heeds them.
    """
    if heeds_windows or is_in_transaction() or not is_postgres(current_backends().database.context.db()):
        has_place = False
    else:
        has_place = await current_backends().rounds.join(_take_places, (team_id, rows))
    return has_place or await insert_guarded(Guard(_TAKE_ONE, [str(team_id), heeds_windows]), *rows)


async def _take_places(take: Take[tuple[UUID, Sequence[Model]]]) -> list[bool]:
    """Store what is asked for at the same time. False is for a caller who has to ask alone."""
    asked = take()
    return await insert_owned(_TAKE_SEVERAL, asked) if len(asked) > 1 else [False]
