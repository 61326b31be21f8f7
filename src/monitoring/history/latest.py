"""The last few checks of many monitors at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from monitoring.backends.current import current_backends
from monitoring.backends.statements import is_postgres, spell
from monitoring.history.results import spell_row

# Each monitor has its own SELECT, and SQLite allows no more of them in a UNION (SQLITE_MAX_COMPOUND_SELECT).
MAX_MONITORS = 500


class Glimpse(NamedTuple):
    """What a glance at a check shows."""

    outcome: str
    response_time_ms: int | None
    is_in_maintenance: bool = False


async def list_latest(
    monitor_ids: Sequence[UUID], since: datetime, count: int
) -> dict[UUID, tuple[Glimpse, ...]]:
    """Return up to `count` checks of each of at most `MAX_MONITORS`, oldest first, in one statement.

    `since` keeps PostgreSQL from reading the partitions of all days. A monitor without a check since then has
    no glimpse.
    """
    if not monitor_ids:
        return {}
    connection = current_backends().database.context.db()
    join = "string_agg" if is_postgres(connection) else "group_concat"
    sql = " UNION ALL ".join(_select(number, count, join) for number, _ in enumerate(monitor_ids))
    values = spell_row(connection, (since, *monitor_ids))
    _, rows = await connection.execute_query(spell(connection, sql), values)
    return {monitor_ids[number]: _read(written) for number, written in rows}


# Most monitors of a list have no new check since it was last read.
@lru_cache(1000)
def _read(written: str | None) -> tuple[Glimpse, ...]:
    checks = [each.split(" ") for each in reversed(written.split(","))] if written else []
    return tuple(
        Glimpse(outcome, int(milliseconds) if milliseconds else None, is_in_maintenance == "1")
        for outcome, milliseconds, is_in_maintenance in checks
    )


def _select(number: int, count: int, join: str) -> str:
    """Select the checks of a monitor in one text, newest first. The first parameter is the moment."""
    newest = (
        "SELECT checked_at, outcome, response_time_ms FROM checks"  # noqa: S608 - placeholders only
        f" WHERE monitor_id = ${number + 2} AND checked_at >= $1 ORDER BY checked_at DESC LIMIT {count:d}"
    )
    in_maintenance = (
        f"EXISTS (SELECT 1 FROM maintenance_spans WHERE monitor_id = ${number + 2}"  # noqa: S608
        " AND starts_at <= latest.checked_at AND ends_at > latest.checked_at)"
    )
    written = (
        "outcome || ' ' || coalesce(CAST(response_time_ms AS text), '') || ' ' ||"
        f" CASE WHEN {in_maintenance} THEN '1' ELSE '0' END"
    )
    return f"SELECT {number:d} AS number, {join}({written}, ',') FROM ({newest}) AS latest"  # noqa: S608 - what stands above
