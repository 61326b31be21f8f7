"""The SQL of stored checks, for PostgreSQL and SQLite. Also creates and drops PostgreSQL's partitions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from tortoise.backends.base.client import BaseDBAsyncClient
from tortoise.exceptions import IntegrityError

from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.fields import read_id, read_moment
from monitoring.backends.rowsets import id_rowset, pack_ids
from monitoring.backends.statements import is_postgres, spell, spell_values
from monitoring.history.models import CheckResult, Glimpse
from monitoring.history.tallies import Phases, Summary, Tally, read_sums
from monitoring.history.timeline import Window
from monitoring.monitors.health import Outcome, State, Transition

COLUMNS = CheckResult._fields

_PLACEHOLDERS = ", ".join(f"${number}" for number, _ in enumerate(COLUMNS, start=1))
_INSERT = f"INSERT INTO checks ({', '.join(COLUMNS)}) VALUES ({_PLACEHOLDERS}) ON CONFLICT DO NOTHING"  # noqa: S608 - names of our own
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM checks WHERE monitor_id = $1"  # noqa: S608 - names of our own


async def insert_results(connection: BaseDBAsyncClient, results: Sequence[CheckResult]) -> None:
    """Store results in the caller's transaction, and create missing partitions.

    Claims prevent two checks of a monitor at the same time. If a monitor has two results with the same time
    anyway, the first result is kept, and the rest of the batch is stored.
    """
    if is_postgres(connection) and results:
        await _create_partitions(connection, {result.checked_at.astimezone(UTC).date() for result in results})
        if await _copy(results):
            return
    await connection.execute_many(
        spell(connection, _INSERT), [spell_values(connection, row) for row in results]
    )


async def list_results(  # noqa: PLR0913 - what a client can ask for
    monitor_id: UUID,
    *,
    start: datetime | None = None,
    end: datetime | None = None,
    outcome: str | None = None,
    before: datetime | None = None,
    limit: int,
) -> list[CheckResult]:
    """Return up to `limit` results of a monitor, newest first, from `start` up to, but not including, `end`.

    `before` is the time of the last result on the previous page. A parameter that is None does not apply.
    """
    connection = current_backends().database.context.db()
    ends = [moment for moment in (end, before) if moment]
    wanted = [("checked_at >=", start), ("checked_at <", min(ends, default=None)), ("outcome =", outcome)]
    given = [(condition, value) for condition, value in wanted if value is not None]
    conditions = "".join(
        f" AND {condition} ${number}" for number, (condition, _) in enumerate(given, start=2)
    )
    sql = f"{_SELECT}{conditions} ORDER BY checked_at DESC LIMIT {limit:d}"
    values = spell_values(connection, (monitor_id, *(value for _, value in given)))
    return [_read_result(row) for row in await connection.execute_query_dict(spell(connection, sql), values)]


async def tally_results(
    connection: BaseDBAsyncClient, monitor_ids: Sequence[UUID], start: datetime, end: datetime
) -> dict[UUID, Tally]:
    """Aggregate each monitor's results from `start` up to, but not including, `end`.

    Monitors without results are omitted.
    """
    ids = ", ".join(f"${number}" for number, _ in enumerate(monitor_ids, start=3))
    sql = (
        "SELECT monitor_id, outcome, response_time_ms FROM checks"  # noqa: S608 - placeholders only
        f" WHERE monitor_id IN ({ids}) AND checked_at >= $1 AND checked_at < $2"
    )
    values = spell_values(connection, (start, end, *monitor_ids))
    _, rows = await connection.execute_query(spell(connection, sql), values)
    tallies: defaultdict[UUID | str, Tally] = defaultdict(Tally)
    for monitor_id, outcome, response_time_ms in rows:
        tallies[monitor_id].add(outcome, response_time_ms)
    read = {read_id(monitor_id): tally for monitor_id, tally in tallies.items()}
    if read:
        for found_id, phases in (await _sum_phases(connection, monitor_ids, values)).items():
            read.setdefault(found_id, Tally()).phases = phases
    return read


async def _copy(rows: Sequence[tuple[object, ...]]) -> bool:
    """Store rows with COPY, which is twice as fast as INSERT.

    If any of the rows already exists, store nothing and return False.
    """
    try:
        async with transaction() as savepoint:
            postgres: Any = savepoint
            await postgres.copy_records("checks", COLUMNS, rows)
    except IntegrityError:
        return False
    return True


def _read_result(row: Mapping[str, Any]) -> CheckResult:
    read = {"monitor_id": read_id(row["monitor_id"]), "checked_at": read_moment(row["checked_at"])}
    return CheckResult(**{**row, **read})


# Only successful checks with a response are summed. Failed checks lack some phases, and their response time
# may be a timeout.
_SUM_PHASES = f"""
    SELECT monitor_id, count(*), sum(coalesce(dns_ms, 0)), sum(coalesce(connect_ms, 0)),
        sum(coalesce(tls_ms, 0)), sum(first_byte_ms), sum(response_time_ms)
    FROM checks
    WHERE checked_at >= $1 AND checked_at < $2 AND outcome IN ('{Outcome.UP}', '{Outcome.DEGRADED}')
        AND response_time_ms IS NOT NULL AND first_byte_ms IS NOT NULL AND monitor_id IN ({{ids}})
    GROUP BY monitor_id
"""  # noqa: S608 - names of our own


async def _sum_phases(
    connection: BaseDBAsyncClient, monitor_ids: Sequence[UUID], values: Sequence[object]
) -> dict[UUID, Phases]:
    """Return the sums of each monitor's phases. `values` are the start, the exclusive end and the ids."""
    ids = ", ".join(f"${number}" for number, _ in enumerate(monitor_ids, start=3))
    _, rows = await connection.execute_query(spell(connection, _SUM_PHASES.format(ids=ids)), list(values))
    return {read_id(monitor_id): read_sums(*sums) for monitor_id, *sums in rows}


# Windows are numbered from 1970 on. Percentiles use the nearest rank among a window's response times, as
# `Latencies` does.
_MEASURE_WINDOWS = f"""
    WITH counted AS (
        SELECT {{epoch}} / {{seconds}} AS number,
            outcome, dns_ms, connect_ms, tls_ms, first_byte_ms, response_time_ms,
            outcome <> '{Outcome.DOWN}' AND response_time_ms IS NOT NULL AS is_answer
        FROM checks
        WHERE monitor_id = $1 AND checked_at >= $2 AND checked_at < $3 AND outcome <> '{Outcome.UNKNOWN}'
    ),
    ranked AS (
        SELECT *, is_answer AND first_byte_ms IS NOT NULL AS has_phases,
            count(*) OVER (PARTITION BY number, is_answer) AS answer_count,
            row_number() OVER (PARTITION BY number, is_answer ORDER BY response_time_ms) AS place
        FROM counted
    )
    SELECT number, count(*), count(*) FILTER (WHERE outcome = '{Outcome.DOWN}'),
        max(response_time_ms) FILTER (WHERE is_answer AND 100 * (place - 1) < 50 * answer_count),
        max(response_time_ms) FILTER (WHERE is_answer AND 100 * (place - 1) < 95 * answer_count),
        count(*) FILTER (WHERE has_phases),
        sum(coalesce(dns_ms, 0)) FILTER (WHERE has_phases),
        sum(coalesce(connect_ms, 0)) FILTER (WHERE has_phases),
        sum(coalesce(tls_ms, 0)) FILTER (WHERE has_phases),
        sum(first_byte_ms) FILTER (WHERE has_phases),
        sum(response_time_ms) FILTER (WHERE has_phases)
    FROM ranked GROUP BY number
"""  # noqa: S608 - names of our own

_POSTGRES_EPOCH = "CAST(floor(extract(epoch FROM checked_at)) AS bigint)"
# SQLite would round the fraction of a second, possibly up to the next second, so the fraction is cut off
# first.
_SQLITE_EPOCH = "CAST(strftime('%s', substr(checked_at, 1, 19)) AS integer)"


async def measure_windows(
    monitor_id: UUID, start: datetime, end: datetime, length: timedelta
) -> dict[datetime, Summary]:
    """Aggregate a monitor's results in windows of `length`. Return the summaries by the start of each window.

    `length` is in whole seconds. Windows without results are omitted.
    """
    connection = current_backends().database.context.db()
    epoch = _POSTGRES_EPOCH if is_postgres(connection) else _SQLITE_EPOCH
    seconds = length // timedelta(seconds=1)
    sql = _MEASURE_WINDOWS.format(epoch=epoch, seconds=seconds)
    values = spell_values(connection, (monitor_id, start, end))
    _, rows = await connection.execute_query(spell(connection, sql), values)
    return {
        datetime.fromtimestamp(number * seconds, UTC): Summary(
            check_count, failed_check_count, p50_ms, p95_ms, read_sums(*sums)
        )
        for number, check_count, failed_check_count, p50_ms, p95_ms, *sums in rows
    }


# Each monitor has its own SELECT in a UNION, and SQLite limits the number of SELECTs
# (SQLITE_MAX_COMPOUND_SELECT).
MAX_MONITORS = 500


async def list_latest(monitor_ids: Sequence[UUID], since: datetime, count: int) -> dict[UUID, list[Glimpse]]:
    """Return the latest checks of each monitor, at most `count` per monitor, oldest first.

    `monitor_ids` may contain at most `MAX_MONITORS` ids, because one statement reads the checks of all
    monitors. Checks before `since` are left out, so that PostgreSQL need not read the partitions of all days.
    If a monitor has no check since `since`, its list is empty.
    """
    latest: dict[UUID, list[Glimpse]] = {monitor_id: [] for monitor_id in monitor_ids}
    if not monitor_ids:
        return latest
    connection = current_backends().database.context.db()
    selects = " UNION ALL ".join(_select_glimpses(number, count) for number, _ in enumerate(monitor_ids))
    sql = f"{selects} ORDER BY number, checked_at"
    values = spell_values(connection, (since, *monitor_ids))
    _, rows = await connection.execute_query(spell(connection, sql), values)
    for number, _, outcome, response_time_ms, is_in_maintenance in rows:
        latest[monitor_ids[number]].append(Glimpse(outcome, response_time_ms, bool(is_in_maintenance)))
    return latest


def _select_glimpses(number: int, count: int) -> str:
    """Return the SQL that selects the newest checks of the monitor whose id is parameter `number + 2`.

    The first parameter of the SQL is the earliest time.
    """
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


# Monitors whose status has been up or degraded since before the range. The status also changes whenever a
# monitor goes down, so the state changes of these monitors need not be read.
_UP_ALL_THE_TIME = """
    SELECT given.id FROM {given} JOIN monitors ON monitors.id = given.id
    JOIN watches ON watches.monitor_id = given.id
    WHERE monitors.status IN ('up', 'degraded') AND monitors.status_changed_at <= $2
        AND watches.seen_until > $2
"""

# The state changes within the range, and the last change before the range.
_CHANGES = """
    SELECT given.id, changes.changed_at, changes.state, watches.seen_until
    FROM {given} JOIN watches ON watches.monitor_id = given.id
    JOIN state_changes AS changes ON changes.monitor_id = given.id AND changes.changed_at >=
        coalesce((SELECT max(changed_at) FROM state_changes AS earlier
            WHERE earlier.monitor_id = given.id AND earlier.changed_at <= $2), $2)
    WHERE changes.changed_at < $3
    ORDER BY changes.changed_at
"""
_SPANS = """
    SELECT given.id, spans.starts_at, spans.ends_at
    FROM {given} JOIN maintenance_spans AS spans ON spans.monitor_id = given.id
    WHERE spans.ends_at > $2 AND spans.starts_at < $3
    ORDER BY spans.starts_at
"""


async def find_up_throughout(monitor_ids: Collection[UUID], start: datetime) -> set[UUID]:
    """Return the ids of those monitors that have always been up or degraded since `start`."""
    return {read_id(id_) for (id_,) in await _ask(_UP_ALL_THE_TIME, monitor_ids, start)}


async def list_spans(
    monitor_ids: Collection[UUID], start: datetime, end: datetime
) -> dict[UUID, list[Window]]:
    """Return the monitors' maintenance spans that overlap a range, in order."""
    spans: defaultdict[UUID, list[Window]] = defaultdict(list)
    for id_, starts_at, ends_at in await _ask(_SPANS, monitor_ids, start, end):
        spans[read_id(id_)].append((read_moment(starts_at), read_moment(ends_at)))
    return spans


async def list_changes(
    monitor_ids: Collection[UUID], start: datetime, end: datetime
) -> dict[UUID, tuple[list[Transition], datetime | None]]:
    """Return each monitor's state changes in a range, and its `seen_until`.

    The last change before the range is included, too. Monitors without changes are omitted.
    """
    found: dict[UUID, tuple[list[Transition], datetime | None]] = {}
    for id_, changed_at, state, seen_until in await _ask(_CHANGES, monitor_ids, start, end):
        changes, _ = found.setdefault(read_id(id_), ([], read_moment(seen_until)))
        changes.append(Transition(read_moment(changed_at), State(state)))
    return found


async def _ask(sql: str, monitor_ids: Collection[UUID], *moments: datetime) -> Sequence[Any]:
    if not monitor_ids:
        return ()
    connection = current_backends().database.context.db()
    statement = spell(connection, sql.format(given=id_rowset(connection)))
    values = [pack_ids(connection, monitor_ids), *spell_values(connection, moments)]
    _, rows = await connection.execute_query(statement, values)
    return rows


async def hold_monitors(connection: BaseDBAsyncClient, after_id: UUID, limit: int) -> list[UUID]:
    """Return up to `limit` monitor ids that follow `after_id`, in order.

    These monitors cannot be deleted until the transaction ends.
    """
    lock = "FOR KEY SHARE" if is_postgres(connection) else ""
    sql = f"SELECT id FROM monitors WHERE id > $1 ORDER BY id LIMIT $2 {lock}"  # noqa: S608 - ours
    values = spell_values(connection, (after_id, limit))
    return [read_id(row["id"]) for row in await connection.execute_query_dict(spell(connection, sql), values)]


async def find_oldest_result() -> datetime | None:
    """Return the oldest result's time, or None. This reads all results, so call it only if there are few."""
    connection = current_backends().database.context.db()
    [row] = await connection.execute_query_dict("SELECT min(checked_at) AS oldest FROM checks")
    oldest: datetime | None = read_moment(row["oldest"])
    return oldest


# How many rows SQLite deletes at a time. This takes a few hundredths of a second, and other writers have to
# wait until it is done.
ROWS_A_PORTION = 500

_DELETE_RESULTS = """
    DELETE FROM checks WHERE (monitor_id, checked_at) IN (
        SELECT monitor_id, checked_at FROM checks WHERE checked_at < ?1
        ORDER BY checked_at LIMIT ?2
    )
"""


async def delete_results(before: datetime) -> None:
    """Delete results older than `before`.

    On PostgreSQL, this drops the tables of days that ended by `before`. On SQLite, it deletes a limited
    number of rows at a time.
    """
    if is_postgres(current_backends().database.context.db()):
        await _drop_partitions(before)
        return
    deleted_count = ROWS_A_PORTION
    while deleted_count == ROWS_A_PORTION:
        async with transaction() as connection:
            deleted_count, _ = await connection.execute_query(_DELETE_RESULTS, [str(before), ROWS_A_PORTION])


# An advisory lock, so that only one process at a time creates or drops partitions. Its number is arbitrary.
_PARTITION_LOCK = 7_023_417_066

# How long dropping a partition waits for its lock. While it waits, all other queries of `checks` have to
# wait, too.
DROP_PATIENCE = "1s"

_DAY = timedelta(days=1)
_PARTITION_NAME = re.compile(r"checks_(\d{8})")

_FIND_PARTITIONS = """
    SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'checks'::regclass
"""


async def ensure_partitions(start: datetime, end: datetime) -> None:
    """Create the partitions for results from `start` to `end`, both days included. SQLite needs none."""
    first, last = _day_of(start), _day_of(end)
    async with transaction() as connection:
        if is_postgres(connection):
            await _create_partitions(connection, [first + _DAY * n for n in range((last - first).days + 1)])


async def _create_partitions(connection: BaseDBAsyncClient, days: Iterable[date]) -> None:
    """Create the partitions that are missing for these days, in the caller's transaction.

    Each partition is created as a separate table and then attached, so other transactions can continue to
    insert. `CREATE TABLE … PARTITION OF` would block them.
    """
    if not await _find_missing_days(connection, days):
        return
    await connection.execute_query(f"SELECT pg_advisory_xact_lock({_PARTITION_LOCK})")
    for day in await _find_missing_days(connection, days):  # another process may have created some
        name = _partition_of(day)
        await connection.execute_query(f"CREATE TABLE {name} (LIKE checks INCLUDING ALL)")
        await connection.execute_query(
            f"ALTER TABLE checks ATTACH PARTITION {name}"
            f" FOR VALUES FROM ('{day} 00:00:00+00') TO ('{day + _DAY} 00:00:00+00')"
        )


async def _drop_partitions(before: datetime) -> None:
    """Drop the partitions of days that ended by `before`, oldest first.

    Raises `DatabaseUnavailable` if a reader blocks a drop for longer than `DROP_PATIENCE`. The next run
    retries.
    """
    async with transaction() as connection:
        names = [row["relname"] for row in await connection.execute_query_dict(_FIND_PARTITIONS)]
    for name in sorted(names):
        if (day := _read_partition_name(name)) and day + _DAY <= _day_of(before):
            await _drop_partition(name)


async def _drop_partition(name: str) -> None:
    async with transaction() as connection:
        await connection.execute_query(f"SET LOCAL lock_timeout = '{DROP_PATIENCE}'")
        await connection.execute_query(f"SELECT pg_advisory_xact_lock({_PARTITION_LOCK})")
        await connection.execute_query(f"DROP TABLE IF EXISTS {name}")


async def _find_missing_days(connection: BaseDBAsyncClient, days: Iterable[date]) -> list[date]:
    named = {_partition_of(day): day for day in sorted(days)}
    # to_regclass() is not used, because it may still report a table as missing after the table was created.
    rows = await connection.execute_query_dict(f"{_FIND_PARTITIONS} AND relname = ANY($1)", [list(named)])
    found = {row["relname"] for row in rows}
    return [day for name, day in named.items() if name not in found]


def _day_of(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def _partition_of(day: date) -> str:
    return f"checks_{day:%Y%m%d}"


def _read_partition_name(name: str) -> date | None:
    """Return a partition's day, or None for the name of a table that this module did not create."""
    matched = _PARTITION_NAME.fullmatch(name)
    return datetime.strptime(matched[1], "%Y%m%d").replace(tzinfo=UTC).date() if matched else None
