"""A claim is a lease on a monitor: the right to check it once.

Only who still holds it can store a result. Who dies holds it until the lease ends; pausing takes it away.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
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
    from collections.abc import Iterable, Mapping

# What a lease leaves for waiting, asking whether we are blind, and storing, beside the check itself.
LEASE_MARGIN = timedelta(seconds=15)

_OF_WATCH = (
    *("monitor_id", "due_at", "next_check_at", "last_checked_at"),
    *("settled", "is_degraded", "is_blind", "streak", "streak_started_at", "seen_until"),
)
_OF_MONITOR = (
    *("team_id", "name", "url", "method", "request_headers", "request_body", "expected_status_codes"),
    *("required_keyword", "forbidden_keyword", "interval_seconds", "timeout_seconds", "follow_redirects"),
    *("verify_tls", "tls_expiry_warning_days", "slow_threshold_ms", "failure_threshold"),
    *("recovery_threshold", "status"),
)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """The right to check a monitor, as it was when claimed, until the lease ends.

    `planned_at` is when it should have been checked, and `last_checked_at` when it was.
    """

    claim: UUID
    lease_ends_at: datetime
    planned_at: datetime
    last_checked_at: datetime | None
    subject: KnownMonitor
    request: OutboundRequest
    expectation: Expectation
    health: Health
    status: str
    interval_seconds: int
    failure_threshold: int
    recovery_threshold: int

    @property
    def monitor_id(self) -> UUID:
        """The monitor's id."""
        return self.subject.id


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
    rows = await connection.execute_query_dict(spell(connection, statement), values)
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


def _read_claimed(row: Mapping[str, Any], claim: UUID) -> Claimed:
    if "monitor" in row:
        row = {**row, **dict(zip(_OF_MONITOR, orjson.loads(row["monitor"]), strict=True))}
    required_keyword, forbidden_keyword = row["required_keyword"], row["forbidden_keyword"]
    lease_ends_at = _read_moment(row["due_at"])
    return Claimed(
        claim=claim,
        lease_ends_at=lease_ends_at,
        planned_at=_read_moment(row["next_check_at"] or row["due_at"]),
        last_checked_at=_read_moment_if_any(row["last_checked_at"]),
        subject=KnownMonitor(_read_id(row["monitor_id"]), _read_id(row["team_id"]), row["name"], row["url"]),
        request=OutboundRequest(
            method=row["method"],
            url=row["url"],
            headers=orjson.loads(row["request_headers"]),
            body=row["request_body"].encode() if row["request_body"] is not None else None,
            timeout_seconds=row["timeout_seconds"],
            follow_redirects=bool(row["follow_redirects"]),
            verify_tls=bool(row["verify_tls"]),
            keep_body=required_keyword is not None or forbidden_keyword is not None,
        ),
        expectation=Expectation(
            expected_status_codes=tuple(orjson.loads(row["expected_status_codes"])),
            required_keyword=required_keyword,
            forbidden_keyword=forbidden_keyword,
            tls_expiry_warning_days=row["tls_expiry_warning_days"],
            slow_threshold_ms=row["slow_threshold_ms"],
        ),
        health=Health(
            settled=State(row["settled"]),
            is_degraded=bool(row["is_degraded"]),
            is_blind=bool(row["is_blind"]),
            streak=row["streak"],
            streak_started_at=_read_moment_if_any(row["streak_started_at"]),
            seen_until=_read_moment_if_any(row["seen_until"]),
        ),
        status=row["status"],
        interval_seconds=row["interval_seconds"],
        failure_threshold=row["failure_threshold"],
        recovery_threshold=row["recovery_threshold"],
    )


def _read_id(value: UUID | str) -> UUID:
    return UUID(value) if isinstance(value, str) else value


def _read_moment(value: datetime | str) -> datetime:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _read_moment_if_any(value: datetime | str | None) -> datetime | None:
    return None if value is None else _read_moment(value)
