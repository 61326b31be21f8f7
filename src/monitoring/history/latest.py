"""The last few checks of many monitors at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from monitoring.backends.current import current_backends
from monitoring.backends.statements import spell
from monitoring.history.results import spell_row

# Each monitor has its own SELECT, and SQLite allows no more of them in a UNION (SQLITE_MAX_COMPOUND_SELECT).
MAX_MONITORS = 500


class Glimpse(NamedTuple):
    """What a glance at a check shows."""

    outcome: str
    response_time_ms: int | None
    is_in_maintenance: bool = False


async def list_latest(monitor_ids: Sequence[UUID], since: datetime, count: int) -> dict[UUID, list[Glimpse]]:
    """Return up to `count` checks of each of at most `MAX_MONITORS`, oldest first, in one statement.

    `since` keeps PostgreSQL from reading the partitions of all days. A monitor without a check since then has
    no glimpse.
    """
    latest: dict[UUID, list[Glimpse]] = {monitor_id: [] for monitor_id in monitor_ids}
    if not monitor_ids:
        return latest
    connection = current_backends().database.context.db()
    selects = " UNION ALL ".join(_select(number, count) for number, _ in enumerate(monitor_ids))
    sql = f"{selects} ORDER BY number, checked_at"
    values = spell_row(connection, (since, *monitor_ids))
    _, rows = await connection.execute_query(spell(connection, sql), values)
    for number, _, outcome, response_time_ms, is_in_maintenance in rows:
        latest[monitor_ids[number]].append(Glimpse(outcome, response_time_ms, bool(is_in_maintenance)))
    return latest


def _select(number: int, count: int) -> str:
    """Select the newest checks of a monitor. The first parameter is the moment since when."""
    newest = (
        "SELECT checked_at, outcome, response_time_ms FROM checks"  # noqa: S608 - placeholders only
        f" WHERE monitor_id = ${number + 2} AND checked_at >= $1 ORDER BY checked_at DESC LIMIT {count:d}"
    )
    in_maintenance = (
        f"EXISTS (SELECT 1 FROM maintenance_spans WHERE monitor_id = ${number + 2}"  # noqa: S608
        " AND starts_at <= latest.checked_at AND ends_at > latest.checked_at)"
    )
    columns = f"{number:d} AS number, checked_at, outcome, response_time_ms, {in_maintenance}"
    return f"SELECT {columns} FROM ({newest}) AS latest"  # noqa: S608 - what stands above
