"""A claim is a lease on a monitor: the right to check it once.

A result is stored only if its claim still holds. If a checker dies, its claims last until their leases end.
Pausing a monitor takes the claim away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID, uuid4

import orjson

from monitoring.backends.current import current_backends
from monitoring.backends.fields import read_moment
from monitoring.backends.rowsets import pack, rowset
from monitoring.backends.statements import is_postgres, spell
from monitoring.checks.probes import registry
from monitoring.checks.probes.protocol import Probe
from monitoring.monitors.health import GRACE, Health, State
from monitoring.monitors.warnings import Warnings
from monitoring.notifications.subjects import KnownMonitor

# A lease lasts for the check itself, and this much longer for waiting, asking if we are blind, and storing.
LEASE_MARGIN = timedelta(seconds=15)

_OF_WATCH = (
    *("due_at", "next_check_at", "last_checked_at", "maintenance_from", "maintenance_until"),
    *Warnings._fields,
    *Health._fields,
)
# What stays the same from claim to claim until somebody changes the monitor: what every monitor has, and what
# the probes read.
_OF_EVERY_KIND = (
    *("id", "team_id", "name", "url", "tags"),
    *("timeout_seconds", "interval_seconds", "failure_threshold", "recovery_threshold"),
)
_SETTINGS = tuple(dict.fromkeys((*_OF_EVERY_KIND, *registry.COLUMNS)))
_OF_MONITOR = ("status", *_SETTINGS)

# A monitor that was checked will be checked again, so its settings are remembered, which takes about two
# kilobytes. Settings with more text than this are not remembered: strangers choose how long they are.
_MAX_REMEMBERED = 16_384
_MAX_REMEMBERED_BYTES = 1024

_STATES = {str(state): state for state in State}

# What is read from the settings: the last fields of a `Claimed`.
_Read: TypeAlias = "tuple[KnownMonitor, Probe, int, int, int, int]"

# An appointment further ahead than this was made by a clock that was ahead. A lease is shorter than GRACE.
_GRACE_SECONDS = GRACE // timedelta(seconds=1)
_FARTHEST_ON_POSTGRES = f"$1::timestamptz + make_interval(secs => interval_seconds + {_GRACE_SECONDS})"
_FARTHEST_ON_SQLITE = (
    f"strftime('%Y-%m-%d %H:%M:%f000+00:00', $1, (interval_seconds + {_GRACE_SECONDS}) || ' seconds')"
)

# With `SKIP LOCKED`, claims made at the same time do not wait for each other. On SQLite they take turns.
_CLAIM_ON_POSTGRES = f"""
    WITH due AS ({{due}})
    UPDATE watches
    SET claim = $3, due_at = $1 + make_interval(secs => monitors.timeout_seconds + $4),
        next_check_at = least(next_check_at, $1)
    FROM monitors
    WHERE watches.id = ANY(ARRAY(SELECT id FROM due)) AND monitors.id = watches.monitor_id
    RETURNING {", ".join(f"watches.{name}" for name in _OF_WATCH)},
              {", ".join(f"monitors.{name}" for name in _OF_MONITOR)}
"""  # noqa: S608 - names of our own
_DUE_ON_POSTGRES = """
    SELECT id FROM watches WHERE due_at <= $1 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED
"""
_MISDATED_ON_POSTGRES = f"""
    SELECT watches.id FROM watches JOIN monitors ON monitors.id = watches.monitor_id
    WHERE due_at > {_FARTHEST_ON_POSTGRES} ORDER BY due_at DESC LIMIT $2 FOR UPDATE OF watches SKIP LOCKED
"""  # noqa: S608

# SQLite cannot return columns of another table, but can look them up. Its moments are text as `str(datetime)`
# writes it.
_CLAIM_ON_SQLITE = f"""
    UPDATE watches
    SET claim = $3, due_at = replace(strftime('%Y-%m-%d %H:%M:%f000+00:00', $1, (
        SELECT timeout_seconds + $4 FROM monitors WHERE id = monitor_id
    ) || ' seconds'), '.000000', ''), next_check_at = min(next_check_at, $1)
    WHERE monitor_id IN ({{due}})
    RETURNING {", ".join(_OF_WATCH)}, (
        SELECT json_array({", ".join(_OF_MONITOR)}) FROM monitors WHERE id = monitor_id
    ) AS monitor
"""  # noqa: S608 - names of our own
_DUE_ON_SQLITE = "SELECT monitor_id FROM watches WHERE due_at <= $1 ORDER BY due_at LIMIT $2"
_MISDATED_ON_SQLITE = f"""
    SELECT monitor_id FROM watches JOIN monitors ON monitors.id = watches.monitor_id
    WHERE due_at > {_FARTHEST_ON_SQLITE} ORDER BY due_at DESC LIMIT $2
"""  # noqa: S608


class Claimed(NamedTuple):
    """The right to check a monitor until the lease ends, and the monitor as it was when it was claimed.

    `planned_at` is when this check was due, and `last_checked_at` when the last one was made. `is_misdated`
    says that a clock that was ahead made the appointment.
    """

    claim: UUID
    lease_ends_at: datetime
    planned_at: datetime
    last_checked_at: datetime | None
    maintenance_from: datetime | None
    maintenance_until: datetime | None
    warnings: Warnings
    health: Health
    status: str
    subject: KnownMonitor
    probe: Probe
    timeout_seconds: int
    interval_seconds: int
    failure_threshold: int
    recovery_threshold: int
    is_misdated: bool = False

    @property
    def monitor_id(self) -> UUID:
        """The monitor's id."""
        return self.subject.id

    def is_in_maintenance(self, moment: datetime) -> bool:
        """Say whether the monitor is in maintenance at a moment. A span that is over means nothing."""
        starts_at, ends_at = self.maintenance_from, self.maintenance_until
        return starts_at is not None and ends_at is not None and starts_at <= moment < ends_at


class _Memory:
    """The settings that a monitor had when it was claimed last, and what was read from them."""

    last: tuple[tuple[Any, ...], _Read] | None = None


async def claim_due(now: datetime, limit: int) -> list[Claimed]:
    """Claim up to `limit` monitors that are due, those that have waited the longest first.

    However many checkers claim at the same time, only one of them gets a monitor. Raises
    `DatabaseUnavailable`.
    """
    return await _claim(now, limit, _DUE_ON_POSTGRES, _DUE_ON_SQLITE)


async def claim_misdated(now: datetime, limit: int) -> list[Claimed]:
    """Claim up to `limit` monitors whose appointment lies further ahead than their interval allows.

    A clock that was ahead made it. This looks at every monitor with a long interval, so it is not for each
    moment. Raises `DatabaseUnavailable`.
    """
    claimed = await _claim(now, limit, _MISDATED_ON_POSTGRES, _MISDATED_ON_SQLITE)
    return [each._replace(is_misdated=True) for each in claimed]


async def _claim(now: datetime, limit: int, on_postgres: str, on_sqlite: str) -> list[Claimed]:
    connection, claim = current_backends().database.context.db(), uuid4()
    margin_seconds = LEASE_MARGIN // timedelta(seconds=1)
    if is_postgres(connection):
        statement = _CLAIM_ON_POSTGRES.format(due=on_postgres)
        values = [now, limit, claim, margin_seconds]
    else:
        statement = _CLAIM_ON_SQLITE.format(due=on_sqlite)
        values = [str(now), limit, str(claim), margin_seconds]
    # Tortoise declares dictionaries but passes on what the driver returns, which has other types.
    rows: Any
    _, rows = await connection.execute_query(spell(connection, statement), values)
    if not is_postgres(connection):
        rows = map(_read_row_of_sqlite, rows)
    return sorted((_read_claimed(row, claim) for row in rows), key=lambda claimed: claimed.planned_at)


async def give_back(claimed: Iterable[Claimed], due_at: datetime) -> None:
    """Free monitors that were claimed but not checked, and make them due at `due_at`.

    A monitor whose claim was lost meanwhile stays as it is.
    """
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
    *of_watch, status = row[: -len(_SETTINGS)]
    due_at, next_check_at, last_checked_at, begins_at, ends_at = of_watch[:5]
    settled, *others = of_watch[-len(Health._fields) :]
    return Claimed(
        claim,
        due_at,
        next_check_at or due_at,
        last_checked_at,
        begins_at,
        ends_at,
        Warnings(*of_watch[5 : -len(Health._fields)]),
        Health(_STATES[settled], *others),
        status,
        *_recall_settings(row[-len(_SETTINGS) :]),
    )


def _recall_settings(settings: tuple[Any, ...]) -> _Read:
    """Read settings, unless they are the same as the last time. Only the last ones are remembered."""
    memory = _memory_of(settings[0])
    if memory.last and memory.last[0] == settings:
        return memory.last[1]
    read = _read_settings(settings)
    size = sum(len(value.encode()) for value in settings if isinstance(value, str))
    memory.last = (settings, read) if size <= _MAX_REMEMBERED_BYTES else None
    return read


@lru_cache(_MAX_REMEMBERED)
def _memory_of(_monitor_id: UUID) -> _Memory:
    return _Memory()


def _read_settings(settings: tuple[Any, ...]) -> _Read:
    row = dict(zip(_SETTINGS, settings, strict=True))
    return (
        KnownMonitor(row["id"], row["team_id"], row["name"], row["url"], orjson.loads(row["tags"])),
        registry.read_probe(row),
        row["timeout_seconds"],
        row["interval_seconds"],
        row["failure_threshold"],
        row["recovery_threshold"],
    )


def _read_row_of_sqlite(row: Sequence[Any]) -> tuple[Any, ...]:
    """Convert a row to what PostgreSQL returns: here, moments and ids are text and flags are numbers."""
    *watch, of_monitor = row
    *moments, days, is_told, warning_streak, settled, is_degraded, is_blind = watch[:-3]
    streak, streak_started_at, seen_until = watch[-3:]
    status, monitor_id, team_id, *others = orjson.loads(of_monitor)
    return (
        *map(read_moment, moments),
        *(days, bool(is_told), warning_streak),
        *(settled, bool(is_degraded), bool(is_blind), streak),
        *map(read_moment, (streak_started_at, seen_until)),
        *(status, UUID(monitor_id), UUID(team_id), *others),
    )
