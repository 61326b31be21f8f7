"""Partitions of the results on PostgreSQL: one for each day (UTC), made in advance and dropped as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

from tortoise.backends.base.client import BaseDBAsyncClient

from monitoring.backends.database import transaction
from monitoring.backends.statements import is_postgres

# Processes that make or drop partitions take turns. The number of the lock is arbitrary.
_PARTITION_LOCK = 7_023_417_066

# While a drop waits for its lock, everybody else has to wait behind it.
DROP_PATIENCE = "1s"

_DAY = timedelta(days=1)
_NAME = re.compile(r"checks_(\d{8})")

_FIND = """
    SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'checks'::regclass
"""


async def ensure_partitions(start: datetime, end: datetime) -> None:
    """Make the partitions for results from `start` until `end`, both days included. SQLite needs none."""
    first, last = _day_of(start), _day_of(end)
    async with transaction() as connection:
        if is_postgres(connection):
            await create_partitions(connection, [first + _DAY * n for n in range((last - first).days + 1)])


async def create_partitions(connection: BaseDBAsyncClient, days: Iterable[date]) -> None:
    """Make the partitions that are missing for these days, in the caller's transaction.

    While a table is attached, others can insert. `CREATE TABLE … PARTITION OF` would lock them out.
    """
    if not await _find_missing(connection, days):
        return
    await connection.execute_query(f"SELECT pg_advisory_xact_lock({_PARTITION_LOCK})")
    for day in await _find_missing(connection, days):  # another process may have made some
        name = _name_of(day)
        await connection.execute_query(f"CREATE TABLE {name} (LIKE checks INCLUDING ALL)")
        await connection.execute_query(
            f"ALTER TABLE checks ATTACH PARTITION {name}"
            f" FOR VALUES FROM ('{day} 00:00:00+00') TO ('{day + _DAY} 00:00:00+00')"
        )


async def drop_partitions(before: datetime) -> list[str]:
    """Drop the days that ended before then, oldest first, and return the names of their tables.

    Raises `DatabaseUnavailable` if somebody reads for longer than `DROP_PATIENCE`; the next time will do.
    """
    dropped = []
    async with transaction() as connection:
        names = [row["relname"] for row in await connection.execute_query_dict(_FIND)]
    for name in sorted(names):
        if (day := _read_name(name)) and day + _DAY <= _day_of(before):
            await _drop(name)
            dropped.append(name)
    return dropped


async def _drop(name: str) -> None:
    async with transaction() as connection:
        await connection.execute_query(f"SET LOCAL lock_timeout = '{DROP_PATIENCE}'")
        await connection.execute_query(f"SELECT pg_advisory_xact_lock({_PARTITION_LOCK})")
        await connection.execute_query(f"DROP TABLE IF EXISTS {name}")


async def _find_missing(connection: BaseDBAsyncClient, days: Iterable[date]) -> list[date]:
    named = {_name_of(day): day for day in sorted(days)}
    # Not to_regclass(), which caches that a table was not found, even if it has been created since.
    rows = await connection.execute_query_dict(f"{_FIND} AND relname = ANY($1)", [list(named)])
    found = {row["relname"] for row in rows}
    return [day for name, day in named.items() if name not in found]


def _day_of(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def _name_of(day: date) -> str:
    return f"checks_{day:%Y%m%d}"


def _read_name(name: str) -> date | None:
    """Return the day of a partition, or None for a table that somebody else attached."""
    matched = _NAME.fullmatch(name)
    return datetime.strptime(matched[1], "%Y%m%d").replace(tzinfo=UTC).date() if matched else None
