"""The SQL that claims monitors and stores the results of checks, for PostgreSQL and SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
from tortoise.backends.base.client import BaseDBAsyncClient

from monitoring.backends.current import current_backends
from monitoring.backends.fields import read_moment
from monitoring.backends.rowsets import pack, rowset
from monitoring.backends.statements import is_postgres, spell, spell_values
from monitoring.checks.probes import registry
from monitoring.monitors.health import GRACE, Health
from monitoring.monitors.warnings import Warnings

_OF_CHECK_STATE = (
    *("due_at", "next_check_at", "last_checked_at", "maintenance_from", "maintenance_until"),
    *Warnings._fields,
    *Health._fields,
)
# Columns of `monitors` that only change when a monitor is edited: the columns that checks of every type need,
# and the columns that the probes read.
_OF_EVERY_KIND = (
    *("id", "team_id", "name", "url", "tags"),
    *("timeout_seconds", "interval_seconds", "failure_threshold", "recovery_threshold"),
    "retry_interval_seconds",
)
_OF_MONITOR = tuple(dict.fromkeys((*_OF_EVERY_KIND, *registry.COLUMNS)))
# A sandbox counts as being in use for an hour after its last use.
_OF_TEAM = {
    "is_sandbox": "sandbox_of_id IS NOT NULL",
    "is_sandbox_in_use": "coalesce(sandbox_used_at > {an_hour_ago}, false)",
}
SETTINGS = (*_OF_MONITOR, *_OF_TEAM)


def _select_settings(an_hour_ago: str) -> str:
    of_monitor = (f"monitors.{name}" for name in ("status", *_OF_MONITOR))
    of_team = (
        f"(SELECT {each.format(an_hour_ago=an_hour_ago)} FROM teams WHERE teams.id = monitors.team_id)"  # noqa: S608
        for each in _OF_TEAM.values()
    )
    return ", ".join([*of_monitor, *of_team])


_SETTINGS_ON_POSTGRES = _select_settings("$1::timestamptz - interval '1 hour'")
_SETTINGS_ON_SQLITE = _select_settings("strftime('%Y-%m-%d %H:%M:%f000+00:00', $1, '-1 hour')")

# A due time later than `_FARTHEST_…` was set by a machine whose clock was ahead. A lease cannot cause such a
# due time, because a lease is shorter than GRACE. A heartbeat's schedule can, so a heartbeat's due time
# counts as wrong only if the time from which its schedule counts is too far ahead as well.
_GRACE_SECONDS = GRACE // timedelta(seconds=1)
_FARTHEST_ON_POSTGRES = f"$1::timestamptz + make_interval(secs => interval_seconds + {_GRACE_SECONDS})"
_FARTHEST_ON_SQLITE = (
    f"strftime('%Y-%m-%d %H:%M:%f000+00:00', $1, (interval_seconds + {_GRACE_SECONDS}) || ' seconds')"
)
_COUNTED_AHEAD_ON_POSTGRES = f"counted_from > $1::timestamptz + make_interval(secs => {_GRACE_SECONDS})"
_COUNTED_AHEAD_ON_SQLITE = (
    f"counted_from > strftime('%Y-%m-%d %H:%M:%f000+00:00', $1, '{_GRACE_SECONDS} seconds')"
)

# With `SKIP LOCKED`, concurrent claims do not wait for each other. On SQLite, claims run one at a time.
_CLAIM_ON_POSTGRES = f"""
    WITH due AS ({{due}})
    UPDATE watches
    SET claim = $3, due_at = $1::timestamptz + make_interval(secs => monitors.timeout_seconds + $4),
        next_check_at = least(next_check_at, $1::timestamptz)
    FROM monitors
    WHERE watches.id = ANY(ARRAY(SELECT id FROM due)) AND monitors.id = watches.monitor_id
    RETURNING {", ".join(f"watches.{name}" for name in _OF_CHECK_STATE)},
              {_SETTINGS_ON_POSTGRES}
"""  # noqa: S608 - names of our own
_DUE_ON_POSTGRES = """
    SELECT id FROM watches WHERE due_at <= $1 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED
"""
_MISDATED_ON_POSTGRES = f"""
    SELECT watches.id FROM watches JOIN monitors ON monitors.id = watches.monitor_id
    LEFT JOIN heartbeats ON heartbeats.monitor_id = watches.monitor_id
    WHERE due_at > {_FARTHEST_ON_POSTGRES} AND (heartbeats.id IS NULL OR {_COUNTED_AHEAD_ON_POSTGRES})
    ORDER BY due_at DESC LIMIT $2 FOR UPDATE OF watches SKIP LOCKED
"""  # noqa: S608

# In SQLite, RETURNING cannot name another table's columns, so a subquery selects them. Times are stored as
# text in the form of `str(datetime)`.
_CLAIM_ON_SQLITE = f"""
    UPDATE watches
    SET claim = $3, due_at = replace(strftime('%Y-%m-%d %H:%M:%f000+00:00', $1, (
        SELECT timeout_seconds + $4 FROM monitors WHERE id = monitor_id
    ) || ' seconds'), '.000000', ''), next_check_at = min(next_check_at, $1)
    WHERE monitor_id IN ({{due}})
    RETURNING {", ".join(_OF_CHECK_STATE)}, (
        SELECT json_array({_SETTINGS_ON_SQLITE}) FROM monitors WHERE id = monitor_id
    ) AS monitor
"""  # noqa: S608 - names of our own
_DUE_ON_SQLITE = "SELECT monitor_id FROM watches WHERE due_at <= $1 ORDER BY due_at LIMIT $2"
_MISDATED_ON_SQLITE = f"""
    SELECT watches.monitor_id FROM watches JOIN monitors ON monitors.id = watches.monitor_id
    LEFT JOIN heartbeats ON heartbeats.monitor_id = watches.monitor_id
    WHERE due_at > {_FARTHEST_ON_SQLITE} AND (heartbeats.id IS NULL OR {_COUNTED_AHEAD_ON_SQLITE})
    ORDER BY due_at DESC LIMIT $2
"""  # noqa: S608
_THIS_ON_POSTGRES = """
    SELECT watches.id FROM watches JOIN monitors ON monitors.id = watches.monitor_id
    WHERE monitor_id = $2 AND NOT paused FOR UPDATE OF watches
"""
_THIS_ON_SQLITE = """
    SELECT monitor_id FROM watches JOIN monitors ON monitors.id = watches.monitor_id
    WHERE monitor_id = $2 AND NOT paused
"""


async def claim(
    claim_id: UUID, now: datetime, limit: int, margin: timedelta, *, is_misdated: bool = False
) -> list[tuple[Any, ...]]:
    """Claim up to `limit` due monitors, and return `_OF_CHECK_STATE`, `status` and `SETTINGS` of each.

    With `is_misdated`, claim monitors whose due time lies further ahead than their interval allows. A lease
    is `margin` longer than the check's timeout.
    """
    due = (_MISDATED_ON_POSTGRES, _MISDATED_ON_SQLITE) if is_misdated else (_DUE_ON_POSTGRES, _DUE_ON_SQLITE)
    return await _claim(*due, (now, limit, claim_id, margin // timedelta(seconds=1)))


async def claim_one(
    claim_id: UUID, now: datetime, monitor_id: UUID, margin: timedelta
) -> list[tuple[Any, ...]]:
    """Claim a monitor, whether or not it is due, unless it is paused.

    Return a list with the monitor's row, or an empty list. The row has the same columns as rows of `claim`.
    """
    values = (now, monitor_id, claim_id, margin // timedelta(seconds=1))
    return await _claim(_THIS_ON_POSTGRES, _THIS_ON_SQLITE, values)


async def _claim(due_on_postgres: str, due_on_sqlite: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    connection = current_backends().database.context.db()
    on_postgres = is_postgres(connection)
    if on_postgres:
        sql = _CLAIM_ON_POSTGRES.format(due=due_on_postgres)
    else:
        sql = _CLAIM_ON_SQLITE.format(due=due_on_sqlite)
    values = spell_values(connection, values)
    # Tortoise's type hints say that rows are dictionaries, but Tortoise returns the driver's rows unchanged.
    rows: Any
    _, rows = await connection.execute_query(spell(connection, sql), values)
    return list(rows if on_postgres else map(_read_row_of_sqlite, rows))


def _read_row_of_sqlite(row: Sequence[Any]) -> tuple[Any, ...]:
    """Convert a SQLite row to PostgreSQL's types. In SQLite, times and ids are text and flags are numbers."""
    *of_check_state, of_monitor = row
    *moments, days, is_told, warning_streak, settled, is_degraded, is_blind = of_check_state[:-3]
    streak, streak_started_at, seen_until = of_check_state[-3:]
    status, monitor_id, team_id, *others = orjson.loads(of_monitor)
    return (
        *map(read_moment, moments),
        *(days, bool(is_told), warning_streak),
        *(settled, bool(is_degraded), bool(is_blind), streak),
        *map(read_moment, (streak_started_at, seen_until)),
        *(status, UUID(monitor_id), UUID(team_id), *others),
    )


async def give_back(rows: Sequence[Mapping[str, Any]]) -> None:
    """End the claims that still hold. Each row has `monitor_id`, `claim` and the monitor's new `due_at`."""
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


_CHECK_STATE = {
    "monitor_id": "uuid",
    "claim": "uuid",
    "next_check_at": "timestamptz",
    "last_checked_at": "timestamptz",
    "last_response_time_ms": "int",
    "last_error": "text",
    "settled": "text",
    "is_degraded": "boolean",
    "is_blind": "boolean",
    "certificate_told_days": "int",
    "is_degradation_told": "boolean",
    "degradation_streak": "int",
    "certificate_expires_at": "timestamptz",
    "streak": "int",
    "streak_started_at": "timestamptz",
    "seen_until": "timestamptz",
}
# If a client has requested another check since this check began, the requested time is kept.
_NEXT_CHECK_AT = (
    "CASE WHEN watches.next_check_at > given.last_checked_at THEN watches.next_check_at"
    " ELSE given.next_check_at END"
)
_KEPT = ("monitor_id", "claim", "next_check_at", "certificate_expires_at")
# If a check got no certificate, the stored expiry is kept.
_CERTIFICATE = (
    "certificate_expires_at = coalesce(given.certificate_expires_at, watches.certificate_expires_at)"
)
_SET = ", ".join([_CERTIFICATE, *(f"{name} = given.{name}" for name in _CHECK_STATE if name not in _KEPT)])
_STATE_CHANGE = {"id": "uuid", "monitor_id": "uuid", "changed_at": "timestamptz", "state": "text"}
_STATUS = {"monitor_id": "uuid", "status": "text", "changed_at": "timestamptz"}


async def update_check_states(connection: BaseDBAsyncClient, rows: Iterable[Mapping[str, Any]]) -> set[str]:
    """Update check states whose claims still hold, end these claims, and return the monitors' ids."""
    updated = await connection.execute_query_dict(
        spell(
            connection,
            f"UPDATE watches SET claim = NULL, due_at = {_NEXT_CHECK_AT},"  # noqa: S608 - names of our own
            f" next_check_at = {_NEXT_CHECK_AT}, {_SET} FROM {rowset(connection, _CHECK_STATE)}"
            " WHERE watches.monitor_id = given.monitor_id AND watches.claim = given.claim"
            " RETURNING watches.monitor_id",
        ),
        [pack(connection, list(rows))],
    )
    return {str(row["monitor_id"]) for row in updated}


async def insert_state_changes(connection: BaseDBAsyncClient, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert state changes. A change replaces an earlier change of the same monitor at the same time."""
    await connection.execute_query_dict(
        spell(
            connection,
            "INSERT INTO state_changes (id, monitor_id, changed_at, state)"  # noqa: S608 - our own names
            f" SELECT id, monitor_id, changed_at, state FROM {rowset(connection, _STATE_CHANGE)}"
            " WHERE true"  # without WHERE, SQLite would parse ON as part of a join
            " ON CONFLICT (monitor_id, changed_at) DO UPDATE SET state = excluded.state",
        ),
        [pack(connection, rows)],
    )


async def update_statuses(connection: BaseDBAsyncClient, rows: Sequence[Mapping[str, Any]]) -> None:
    """Update monitors' statuses. Each row has `monitor_id`, `status` and `changed_at`."""
    await connection.execute_query_dict(
        spell(
            connection,
            "UPDATE monitors SET status = given.status, status_changed_at = given.changed_at"  # noqa: S608
            f" FROM {rowset(connection, _STATUS)} WHERE monitors.id = given.monitor_id",
        ),
        [pack(connection, rows)],
    )
