"""A claim is a lease on a monitor: the right to check it once.

Only who still holds it can store a result. Who dies holds it until the lease ends; pausing takes it away.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from uuid import UUID, uuid4

import orjson

from monitoring.backends.current import current_backends
from monitoring.backends.rowsets import pack, rowset
from monitoring.backends.statements import is_postgres, spell
from monitoring.checks.judging import Expectation
from monitoring.incidents.subjects import KnownMonitor
from monitoring.monitors.health import Health, State
from monitoring.outbound.exchanges import OutboundRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# What a lease leaves for waiting, asking whether we are blind, and storing, beside the check itself.
LEASE_MARGIN = timedelta(seconds=15)

_OF_WATCH = ("due_at", "next_check_at", "last_checked_at", *Health._fields)
# What stays the same from claim to claim, until somebody changes the monitor.
_SETTINGS = (
    *("id", "team_id", "name", "method", "timeout_seconds", "follow_redirects", "verify_tls"),
    *("expected_status_codes", "required_keyword", "forbidden_keyword", "tls_expiry_warning_days"),
    *("slow_threshold_ms", "interval_seconds", "failure_threshold", "recovery_threshold"),
    *("url", "request_headers", "request_body"),
)
_OF_MONITOR = ("status", *_SETTINGS)

# Whoever is checked once is checked again. What is remembered of one takes two kilobytes as a rule, and ten
# with the largest request that is remembered at all: strangers choose how large they are.
_MAX_REMEMBERED = 16_384
_MAX_REMEMBERED_BYTES = 1024

_STATES = {str(state): state for state in State}

# What follows from settings: the end of a `Claimed`.
_Read: TypeAlias = "tuple[KnownMonitor, OutboundRequest, Expectation, int, int, int]"

# `SKIP LOCKED` lets claims made at once pass each other by; SQLite makes them one after the other.
_CLAIM_ON_POSTGRES = f"""
    WITH due AS (
        SELECT monitor_id FROM watches WHERE due_at <= $1 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED
    )
    UPDATE watches
    SET claim = $3, due_at = $1 + make_interval(secs => monitors.timeout_seconds + $4)
    FROM due JOIN monitors ON monitors.id = due.monitor_id
    WHERE watches.monitor_id = due.monitor_id
    RETURNING {", ".join(f"watches.{name}" for name in _OF_WATCH)},
              {", ".join(f"monitors.{name}" for name in _OF_MONITOR)}
"""  # noqa: S608 - names of our own

# What comes from another table cannot be returned, but looked up. Moments are text as `str(datetime)` has it.
_CLAIM_ON_SQLITE = f"""
    UPDATE watches
    SET claim = $3, due_at = replace(strftime('%Y-%m-%d %H:%M:%f000+00:00', $1, (
        SELECT timeout_seconds + $4 FROM monitors WHERE id = monitor_id
    ) || ' seconds'), '.000000', '')
    WHERE monitor_id IN (SELECT monitor_id FROM watches WHERE due_at <= $1 ORDER BY due_at LIMIT $2)
    RETURNING {", ".join(_OF_WATCH)}, (
        SELECT json_array({", ".join(_OF_MONITOR)}) FROM monitors WHERE id = monitor_id
    ) AS monitor
"""  # noqa: S608 - names of our own


class Claimed(NamedTuple):
    """The right to check a monitor, as it was when claimed, until the lease ends.

    `planned_at` is when it should have been checked, and `last_checked_at` when it was.
    """

    claim: UUID
    lease_ends_at: datetime
    planned_at: datetime
    last_checked_at: datetime | None
    health: Health
    status: str
    subject: KnownMonitor
    request: OutboundRequest
    expectation: Expectation
    interval_seconds: int
    failure_threshold: int
    recovery_threshold: int

    @property
    def monitor_id(self) -> UUID:
        """The monitor's id."""
        return self.subject.id


class _Memory:
    """The settings that a monitor had when it was claimed last, and what follows from them."""

    last: tuple[tuple[Any, ...], _Read] | None = None


async def claim_due(now: datetime, limit: int) -> list[Claimed]:
    """Claim up to `limit` monitors that are due, those that wait the longest first.

    However many claim at once, each monitor goes to one. Raises `DatabaseUnavailable`.
    """
    connection, claim = current_backends().database.context.db(), uuid4()
    margin_seconds = LEASE_MARGIN // timedelta(seconds=1)
    if is_postgres(connection):
        statement, values = _CLAIM_ON_POSTGRES, [now, limit, claim, margin_seconds]
    else:
        statement, values = _CLAIM_ON_SQLITE, [str(now), limit, str(claim), margin_seconds]
    # Tortoise says dictionaries, and passes on what the driver gives: nothing, where UPDATE is the first word
    rows: Any
    _, rows = await connection.execute_query(spell(connection, statement), values)
    if not is_postgres(connection):
        rows = map(_read_row_of_sqlite, rows)
    return sorted((_read_claimed(row, claim) for row in rows), key=lambda claimed: claimed.planned_at)


async def give_back(claimed: Iterable[Claimed], due_at: datetime) -> None:
    """Free what was claimed and not checked, from `due_at` on. What is not held any more stays as it is."""
    rows = [{"monitor_id": each.monitor_id, "claim": each.claim, "due_at": due_at} for each in claimed]
    if not rows:
        return
    connection = current_backends().database.context.db()
    given = rowset(connection, {"monitor_id": "uuid", "claim": "uuid", "due_at": "timestamptz"})
    await connection.execute_query_dict(
        spell(
            connection,
            f"UPDATE watches SET claim = NULL, due_at = given.due_at FROM {given}"  # noqa: S608
            " WHERE watches.monitor_id = given.monitor_id AND watches.claim = given.claim",
        ),
        [pack(connection, rows)],
    )


def _read_claimed(row: tuple[Any, ...], claim: UUID) -> Claimed:
    due_at, next_check_at, last_checked_at, settled, *others, status = row[: -len(_SETTINGS)]
    return Claimed(
        claim,
        due_at,
        next_check_at or due_at,
        last_checked_at,
        Health(_STATES[settled], *others),
        status,
        *_recall_settings(row[-len(_SETTINGS) :]),
    )


def _recall_settings(settings: tuple[Any, ...]) -> _Read:
    """Read settings, unless they are those of the last time; what they were before is forgotten."""
    *_, url, headers, body = settings
    if len(f"{url}{headers}{body or ''}".encode()) > _MAX_REMEMBERED_BYTES:
        return _read_settings(settings)
    memory = _memory_of(settings[0])
    last = memory.last
    if not last or last[0] != settings:
        last = memory.last = (settings, _read_settings(settings))
    return last[1]


@lru_cache(_MAX_REMEMBERED)
def _memory_of(_monitor_id: UUID) -> _Memory:
    return _Memory()


def _read_settings(settings: tuple[Any, ...]) -> _Read:
    column = dict(zip(_SETTINGS, settings, strict=True))
    body = column["request_body"]
    required_keyword, forbidden_keyword = column["required_keyword"], column["forbidden_keyword"]
    return (
        KnownMonitor(column["id"], column["team_id"], column["name"], column["url"]),
        OutboundRequest(
            method=column["method"],
            url=column["url"],
            headers=orjson.loads(column["request_headers"]),
            body=None if body is None else body.encode(),
            timeout_seconds=column["timeout_seconds"],
            follow_redirects=bool(column["follow_redirects"]),
            verify_tls=bool(column["verify_tls"]),
            keep_body=required_keyword is not None or forbidden_keyword is not None,
        ),
        Expectation(
            expected_status_codes=tuple(orjson.loads(column["expected_status_codes"])),
            required_keyword=required_keyword,
            forbidden_keyword=forbidden_keyword,
            tls_expiry_warning_days=column["tls_expiry_warning_days"],
            slow_threshold_ms=column["slow_threshold_ms"],
        ),
        column["interval_seconds"],
        column["failure_threshold"],
        column["recovery_threshold"],
    )


def _read_row_of_sqlite(row: Sequence[Any]) -> tuple[Any, ...]:
    """Read a row as PostgreSQL gives it: moments and ids are text here, and flags are numbers."""
    *moments, settled, is_degraded, is_blind, streak, streak_started_at, seen_until, of_monitor = row
    status, monitor_id, team_id, *others = orjson.loads(of_monitor)
    return (
        *map(_read_moment, moments),
        *(settled, bool(is_degraded), bool(is_blind), streak),
        *map(_read_moment, (streak_started_at, seen_until)),
        *(status, UUID(monitor_id), UUID(team_id), *others),
    )


def _read_moment(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
