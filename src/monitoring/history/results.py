"""Results of checks: written many at once, and read for one monitor, newest first.

There are more of them than of anything else, so they have no model: PostgreSQL copies them into partitions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from tortoise.backends.base.client import BaseDBAsyncClient
from tortoise.exceptions import IntegrityError

from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.fields import read_id
from monitoring.backends.statements import is_postgres, spell
from monitoring.history.partitions import create_partitions
from monitoring.history.phases import sum_phases, transfer_of
from monitoring.history.tallies import Tally


class CheckResult(NamedTuple):
    """What one check found. Its fields are the columns of `checks`, and those of the document's Check."""

    monitor_id: UUID
    checked_at: datetime
    outcome: str
    status_code: int | None
    response_time_ms: int | None
    dns_ms: int | None
    connect_ms: int | None
    tls_ms: int | None
    first_byte_ms: int | None
    error: str | None
    error_message: str | None

    @property
    def transfer_ms(self) -> int | None:
        """How long the answer took after its first byte; None if there was no answer."""
        if self.response_time_ms is None or self.first_byte_ms is None:
            return None
        return transfer_of(
            self.response_time_ms, self.dns_ms, self.connect_ms, self.tls_ms, self.first_byte_ms
        )


COLUMNS = CheckResult._fields

_PLACEHOLDERS = ", ".join(f"${number}" for number, _ in enumerate(COLUMNS, start=1))
_INSERT = f"INSERT INTO checks ({', '.join(COLUMNS)}) VALUES ({_PLACEHOLDERS}) ON CONFLICT DO NOTHING"  # noqa: S608 - names of our own
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM checks WHERE monitor_id = $1"  # noqa: S608 - names of our own


async def insert_results(connection: BaseDBAsyncClient, results: Sequence[CheckResult]) -> None:
    """Store results in the caller's transaction, and make partitions that are missing.

    Claims keep a monitor from being checked twice at the same moment. If it happens anyway, the first result
    stays, and the rest of the batch is stored.
    """
    if is_postgres(connection) and results:
        await create_partitions(connection, {result.checked_at.astimezone(UTC).date() for result in results})
        if await _copy(results):
            return
    await connection.execute_many(spell(connection, _INSERT), [spell_row(connection, row) for row in results])


async def list_results(  # noqa: PLR0913 - what a client can ask for
    monitor_id: UUID,
    *,
    start: datetime | None = None,
    end: datetime | None = None,
    outcome: str | None = None,
    before: datetime | None = None,
    limit: int,
) -> list[CheckResult]:
    """Return up to `limit` results of a monitor, newest first, from `start` until before `end`.

    `before` continues where a page ended. None means no limit.
    """
    connection = current_backends().database.context.db()
    ends = [moment for moment in (end, before) if moment]
    wanted = [("checked_at >=", start), ("checked_at <", min(ends, default=None)), ("outcome =", outcome)]
    given = [(condition, value) for condition, value in wanted if value is not None]
    conditions = "".join(
        f" AND {condition} ${number}" for number, (condition, _) in enumerate(given, start=2)
    )
    sql = f"{_SELECT}{conditions} ORDER BY checked_at DESC LIMIT {limit:d}"
    values = spell_row(connection, (monitor_id, *(value for _, value in given)))
    return [_read(row) for row in await connection.execute_query_dict(spell(connection, sql), values)]


async def tally_results(
    connection: BaseDBAsyncClient, monitor_ids: Sequence[UUID], start: datetime, end: datetime
) -> dict[UUID, Tally]:
    """Add up each monitor's results from `start` until before `end`. Monitors without any are left out."""
    ids = ", ".join(f"${number}" for number, _ in enumerate(monitor_ids, start=3))
    sql = (
        "SELECT monitor_id, outcome, response_time_ms FROM checks"  # noqa: S608 - placeholders only
        f" WHERE monitor_id IN ({ids}) AND checked_at >= $1 AND checked_at < $2"
    )
    values = spell_row(connection, (start, end, *monitor_ids))
    _, rows = await connection.execute_query(spell(connection, sql), values)
    tallies: defaultdict[UUID | str, Tally] = defaultdict(Tally)
    for monitor_id, outcome, response_time_ms in rows:
        tallies[monitor_id].add(outcome, response_time_ms)
    read = {read_id(monitor_id): tally for monitor_id, tally in tallies.items()}
    if read:
        for found_id, phases in (await sum_phases(connection, monitor_ids, values)).items():
            read.setdefault(found_id, Tally()).phases = phases
    return read


def spell_row(connection: BaseDBAsyncClient, row: Sequence[object]) -> list[object]:
    """Convert values for the driver. SQLite keeps ids and moments (in UTC) as text."""
    return list(row) if is_postgres(connection) else [_write_text(value) for value in row]


async def _copy(rows: Sequence[tuple[object, ...]]) -> bool:
    """Load rows by COPY, which is twice as fast as INSERT. Return False if one of them exists already."""
    try:
        async with transaction() as savepoint:
            postgres: Any = savepoint
            await postgres.copy_records("checks", COLUMNS, rows)
    except IntegrityError:
        return False
    return True


def _write_text(value: object) -> object:
    if isinstance(value, datetime):
        value = value.astimezone(UTC)
    return str(value) if isinstance(value, UUID | datetime) else value


def _read(row: Mapping[str, Any]) -> CheckResult:
    if isinstance(row["monitor_id"], UUID):
        return CheckResult(**row)
    read = {"monitor_id": UUID(row["monitor_id"]), "checked_at": datetime.fromisoformat(row["checked_at"])}
    return CheckResult(**{**row, **read})
