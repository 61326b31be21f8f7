"""SQL queries for notifications, for PostgreSQL and SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from tortoise.backends.base.client import BaseDBAsyncClient

from monitoring.backends.clock import TOLERANCE
from monitoring.backends.current import current_backends
from monitoring.backends.fields import read_id
from monitoring.backends.leases import NUDGE_INTERVAL
from monitoring.backends.statements import is_postgres, spell, spell_values
from monitoring.notifications.models import EMAIL
from monitoring.notifications.scheduling import MOST_AT_ONCE_A_CHANNEL

# Selects each channel's longest-waiting deliveries, up to the concurrency limit, so that ten thousand
# deliveries to one server do not delay deliveries to other servers. When an attempt ends, it starts the
# channel's next delivery.
_CHOSEN = f"""
    SELECT id FROM (
        SELECT id, due_at, row_number() OVER (PARTITION BY channel_id ORDER BY due_at, id) AS turn
        FROM notification_deliveries
        WHERE due_at <= $1 AND (nudged_at IS NULL OR nudged_at <= $2 OR nudged_at > $3)
    ) AS idle WHERE turn <= {MOST_AT_ONCE_A_CHANNEL} ORDER BY due_at LIMIT $4
"""  # noqa: S608 - a number of our own


async def choose_idle_deliveries(now: datetime, limit: int) -> list[UUID]:
    """Return the ids of up to `limit` due deliveries without a queued task message."""
    connection = current_backends().database.context.db()
    values = spell_values(connection, (now, now - NUDGE_INTERVAL, now + TOLERANCE, limit))
    rows = await connection.execute_query_dict(spell(connection, _CHOSEN), values)
    return [read_id(row["id"]) for row in rows]


async def hold_channels(
    connection: BaseDBAsyncClient, team_ids: Iterable[UUID]
) -> Sequence[Mapping[str, Any]]:
    """Return the teams' enabled, confirmed channels, and lock them until the commit.

    The lock prevents the deletion of these channels, because new rows will reference them. It is weaker than
    any lock that Tortoise offers, so that concurrent announcements do not block each other.
    """
    if is_postgres(connection):
        # The ids are converted to an array. Otherwise, PostgreSQL would assume that the function returns 100
        # rows, and would scan all channels.
        among = "= ANY (ARRAY(SELECT value::uuid FROM json_array_elements_text($1::json)))"
        lock = "FOR KEY SHARE"
    else:
        among, lock = "IN (SELECT value FROM json_each(?1))", ""
    return await connection.execute_query_dict(
        "SELECT id, team_id, type, events, settings FROM notification_channels"  # noqa: S608 - ours
        f" WHERE team_id {among} AND enabled AND (type <> '{EMAIL}' OR confirmed_at IS NOT NULL)"
        f" ORDER BY id {lock}",
        [orjson.dumps([str(team_id) for team_id in team_ids]).decode()],
    )
