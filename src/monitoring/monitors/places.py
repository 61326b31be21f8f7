"""The places of a team's plan: the statement that stores a monitor takes one for it.

Requests that ask in the same turn of the event loop share a statement, and so one commit.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from monitoring.backends.current import current_backends
from monitoring.backends.errors import BackendUnavailable
from monitoring.backends.inserts import Guard, insert_guarded, insert_owned
from monitoring.backends.statements import is_in_transaction, is_postgres

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from tortoise.models import Model

    from monitoring.backends.rounds import Take

log = logging.getLogger(__name__)

# The second value says whether a team with maintenance windows may take one: then more is to be done.
TAKE_ONE = """
    UPDATE teams SET monitors_count = monitors_count + 1
    WHERE id = $1 AND monitors_count < max_monitors AND ($2 OR NOT may_have_maintenance)
    RETURNING id
"""

# A team whose row is locked is left out, so that the others do not wait for it. If a team was changed since
# the statement began, PostgreSQL judges its new row.
TAKE_SEVERAL = """
    UPDATE teams SET monitors_count = monitors_count + asked.places
    FROM
        (SELECT owner, count(*) AS places FROM given GROUP BY owner) AS asked,
        (
            SELECT id FROM teams WHERE id = ANY(ARRAY(SELECT owner FROM given))
            FOR NO KEY UPDATE SKIP LOCKED
        ) AS free
    WHERE teams.id = asked.owner AND teams.id = free.id
        AND monitors_count + asked.places <= max_monitors AND NOT may_have_maintenance
    RETURNING teams.id
"""


async def store_in_plan(team_id: UUID, rows: Sequence[Model], *, heeds_windows: bool = False) -> bool:
    """Store the rows of a new monitor, or return False if the plan is full.

    A team that may have maintenance windows is refused too, unless the caller heeds them.
    """
    connection = current_backends().database.context.db()
    may_share = is_postgres(connection) and not is_in_transaction(connection) and not heeds_windows
    if may_share and await current_backends().rounds.join(
        _store_together, (team_id, rows), one_at_a_time=True
    ):
        return True
    return await insert_guarded(Guard(TAKE_ONE, [str(team_id), heeds_windows]), *rows)


async def _store_together(take: Take[tuple[UUID, Sequence[Model]]]) -> list[bool]:
    """Store what is asked for at the same time. False is for a caller who has to ask alone."""
    asked = take()
    if len(asked) > 1:
        try:
            return await insert_owned(TAKE_SEVERAL, asked)
        except BackendUnavailable:
            raise
        except Exception:
            log.exception("A round of %d new monitors failed: each goes alone", len(asked))
    return [False] * len(asked)
