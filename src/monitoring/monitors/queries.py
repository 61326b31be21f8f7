"""The SQL that reads monitors for clients, and incidents that need reminders.

Monitors are returned as plain rows, because creating ORM objects would take four times as long.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum, auto
from functools import cache
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

import orjson

from monitoring.backends.current import current_backends
from monitoring.backends.fields import Reader, read_id, read_row, readers_of
from monitoring.backends.rowsets import pack_ids
from monitoring.backends.statements import is_postgres, spell, spell_values
from monitoring.contract.problems import Problem
from monitoring.monitors.configuration import column_names
from monitoring.monitors.heartbeats.models import Heartbeat
from monitoring.monitors.models import CheckState, Monitor
from monitoring.notifications.models import Mute

# A monitor's columns by name, together with the columns of its check state, mute and heartbeat that clients
# see.
MonitorRow: TypeAlias = "Mapping[str, Any]"

_OF_CHECK_STATE = ("last_checked_at", "next_check_at", "last_response_time_ms", "last_error")
_OF_MUTE = ("muted_until", "muted_by")
_OF_HEARTBEAT = ("encrypted_token",)

_ORDER = "monitors.team_id DESC, monitors.id DESC"

# Monitors that need attention come first.
_WORST_FIRST = ("down", "validating", "degraded", "unknown", "pending", "maintenance", "up", "paused")

_IS_KEPT = "monitors.id NOT IN (SELECT monitor_id FROM pending_deletions WHERE team_id = {})"

_WILDCARD = re.compile(r"[\\%_]")


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorFilter:
    """Which monitors to list. A monitor must match all fields that are not None, and have all `tags`.

    `leaves_out_deleted` excludes monitors whose deletion can still be undone.
    """

    type: str | None = None
    status: str | None = None
    tags: tuple[str, ...] = ()
    paused: bool | None = None
    search: str | None = None
    leaves_out_deleted: bool = False


class MonitorOrder(StrEnum):
    """The orders of the app's monitor list. Among equal monitors, newer ones come first."""

    WORST = auto()  # by status, down first
    BEST = auto()
    NAME = auto()
    REVERSED_NAME = auto()
    UPTIME = auto()  # lowest first; the caller computes the uptime
    HIGHEST_UPTIME = auto()
    SLOWEST = auto()  # by the response time of the last check
    QUICKEST = auto()
    NEWEST = auto()


_RANK = "CASE monitors.status {} END".format(
    " ".join(f"WHEN '{status}' THEN {rank}" for rank, status in enumerate(_WORST_FIRST))
)

# Monitors whose last check has no response time come last in both orders.
_ORDERS = {
    MonitorOrder.WORST: f"{_RANK},",
    MonitorOrder.BEST: f"{_RANK} DESC,",
    MonitorOrder.NAME: "monitors.search_text,",  # it begins with the name
    MonitorOrder.REVERSED_NAME: "monitors.search_text DESC,",
    MonitorOrder.UPTIME: "",
    MonitorOrder.HIGHEST_UPTIME: "",
    MonitorOrder.SLOWEST: "watches.last_response_time_ms IS NULL, watches.last_response_time_ms DESC,",
    MonitorOrder.QUICKEST: "watches.last_response_time_ms IS NULL, watches.last_response_time_ms,",
    MonitorOrder.NEWEST: "",
}


class Outline(NamedTuple):
    """The fields of a monitor that decide its position in a list."""

    id: UUID
    status: str
    tags: list[str]


@dataclass(frozen=True, slots=True)
class MonitorPage:
    """A page of monitors, and the id of its last monitor if another page follows."""

    monitors: Sequence[MonitorRow]
    continues_after: UUID | None


async def list_monitors(
    team_id: UUID, wanted: MonitorFilter, limit: int, after_id: UUID | None
) -> MonitorPage:
    """Return up to `limit` monitors of a team, newest first, starting after `after_id`."""
    given = _conditions(team_id, wanted) + ([("monitors.id < {}", str(after_id))] if after_id else [])
    source = f"{_where(given)} ORDER BY {_ORDER} LIMIT ${len(given) + 1}"
    found = await _read(source, [*_values(given), limit + 1], _ORDER)
    return MonitorPage(found[:limit], found[limit - 1]["id"] if len(found) > limit else None)


async def list_monitors_in_order(
    team_id: UUID, wanted: MonitorFilter, order: MonitorOrder, skip: int, limit: int
) -> list[MonitorRow]:
    """Return up to `limit` monitors of a team, sorted by `order`, after skipping the first `skip`."""
    given, ordered = _conditions(team_id, wanted), f"{_ORDERS[order]} {_ORDER}"
    source = (
        f"JOIN watches ON watches.monitor_id = monitors.id {_where(given)}"
        f" ORDER BY {ordered} LIMIT ${len(given) + 1} OFFSET ${len(given) + 2}"
    )
    return await _read(source, [*_values(given), limit, skip], ordered)


async def outline_monitors(team_id: UUID, wanted: MonitorFilter, order: MonitorOrder) -> list[Outline]:
    """Return the outlines of all of a team's monitors that match a filter, sorted by `order`."""
    given = _conditions(team_id, wanted)
    connection = current_backends().database.context.db()
    sql = (
        "SELECT monitors.id, monitors.status, monitors.tags FROM monitors"  # noqa: S608 - names of our own
        f" JOIN watches ON watches.monitor_id = monitors.id {_where(given)}"
        f" ORDER BY {_ORDERS[order]} {_ORDER}"
    )
    _, rows = await connection.execute_query(spell(connection, sql), _values(given))
    return [Outline(read_id(id_), status, orjson.loads(tags)) for id_, status, tags in rows]


async def list_monitors_among(team_id: UUID, monitor_ids: Sequence[UUID]) -> list[MonitorRow]:
    """Return the team's monitors with these ids, in the order of the ids."""
    given = [("monitors.team_id = {}", str(team_id)), _among(monitor_ids)]
    found = {row["id"]: row for row in await _read(_where(given), _values(given), _ORDER)}
    return [found[monitor_id] for monitor_id in monitor_ids if monitor_id in found]


async def find_among(team_id: UUID, wanted: MonitorFilter, monitor_ids: Collection[UUID]) -> set[UUID]:
    """Return the ids in `monitor_ids` that belong to monitors of the team that match a filter."""
    given = [*_conditions(team_id, wanted), _among(monitor_ids)]
    connection = current_backends().database.context.db()
    sql = f"SELECT monitors.id FROM monitors {_where(given)}"  # noqa: S608 - names of our own
    _, rows = await connection.execute_query(spell(connection, sql), _values(given))
    return {read_id(monitor_id) for (monitor_id,) in rows}


async def count_statuses(team_id: UUID, wanted: MonitorFilter) -> Counter[str]:
    """Return the number of a team's monitors that match a filter, by status."""
    return Counter(await _count_by("status", team_id, wanted))


async def count_types(team_id: UUID, wanted: MonitorFilter) -> Counter[str]:
    """Return the number of a team's monitors that match a filter, by type."""
    return Counter(await _count_by("type", team_id, wanted))


async def count_tags(team_id: UUID, wanted: MonitorFilter) -> Counter[str]:
    """Return the number of a team's monitors that match a filter, by tag."""
    counts: Counter[str] = Counter()
    for tags, number in (await _count_by("tags", team_id, wanted)).items():
        counts.update(dict.fromkeys(orjson.loads(tags), number))
    return counts


async def _count_by(column: str, team_id: UUID, wanted: MonitorFilter) -> dict[str, int]:
    """Return the number of a team's monitors that match a filter, by the value of a column."""
    given = _conditions(team_id, wanted)
    sql = f"SELECT {column} AS held, count(*) AS number FROM monitors {_where(given)} GROUP BY {column}"  # noqa: S608 - ours
    connection = current_backends().database.context.db()
    rows = await connection.execute_query_dict(spell(connection, sql), _values(given))
    return {row["held"]: row["number"] for row in rows}


async def read_monitor(team_id: UUID, monitor_id: UUID) -> MonitorRow:
    """Return a monitor of the team. Raises Problem if the team has no monitor with this id."""
    given = [("monitors.id = {}", str(monitor_id)), ("monitors.team_id = {}", str(team_id))]
    for monitor in await _read(_where(given), _values(given), _ORDER):
        return monitor
    raise Problem("monitor_not_found")


def row_of(monitor: Monitor, mute: Mute | None, heartbeat: Heartbeat | None = None) -> MonitorRow:
    """Return the row that `read_monitor` would return for a monitor that was just stored."""
    return {
        **{name: getattr(monitor, name) for name in _columns_of_monitors()},
        **{name: getattr(monitor.check_state, name) for name in _OF_CHECK_STATE},
        "is_muted": mute is not None,
        **{name: getattr(mute, name, None) for name in _OF_MUTE},
        **{name: getattr(heartbeat, name, None) for name in _OF_HEARTBEAT},
    }


def _among(monitor_ids: Collection[UUID]) -> tuple[str, Any]:
    """Return the condition that a monitor has one of these ids."""
    connection = current_backends().database.context.db()
    among = "= ANY({}::uuid[])" if is_postgres(connection) else "IN (SELECT value FROM json_each({}))"
    return f"monitors.id {among}", pack_ids(connection, monitor_ids)


def _conditions(team_id: UUID, wanted: MonitorFilter) -> list[tuple[str, Any]]:
    """Return a filter's SQL conditions, each with the value of its parameter."""
    conditions = [
        _of_team(team_id),
        ("monitors.type = {}", wanted.type),
        ("monitors.status = {}", wanted.status),
        # The column is JSON text. The quotes ensure that `shop` does not match `shopping`.
        *(("monitors.tags LIKE {} ESCAPE '\\'", _contains(f'"{tag}"')) for tag in wanted.tags),
        ("monitors.paused = {}", wanted.paused),
        ("monitors.search_text LIKE {} ESCAPE '\\'", wanted.search and _contains(wanted.search.casefold())),
        (_IS_KEPT, str(team_id) if wanted.leaves_out_deleted else None),
    ]
    return [(condition, value) for condition, value in conditions if value is not None]


def _where(given: Sequence[tuple[str, Any]]) -> str:
    numbered = (condition.format(f"${number}") for number, (condition, _) in enumerate(given, start=1))
    return f"WHERE {' AND '.join(numbered)}"


def _values(given: Sequence[tuple[str, Any]]) -> list[Any]:
    return [value for _, value in given]


async def _read(source: str, values: list[Any], order: str) -> list[MonitorRow]:
    """Read the monitors that `source` selects, sorted by `order`.

    A subquery selects the monitors first, so that only their rows are joined with other tables.
    """
    columns = [
        *(f"monitors.{name}" for name in _columns_of_monitors()),
        *(f"watches.{name}" for name in _OF_CHECK_STATE),
        "mutes.id IS NOT NULL AS is_muted",
        *(f"mutes.{name}" for name in _OF_MUTE),
        *(f"heartbeats.{name}" for name in _OF_HEARTBEAT),
    ]
    sql = (
        f"SELECT {', '.join(columns)} FROM (SELECT monitors.* FROM monitors {source}) AS monitors"  # noqa: S608 - names of our own
        " JOIN watches ON watches.monitor_id = monitors.id"
        " LEFT JOIN heartbeats ON heartbeats.monitor_id = monitors.id"
        " LEFT JOIN mutes ON mutes.monitor_id = monitors.id"
        f" AND (mutes.muted_until IS NULL OR mutes.muted_until > CURRENT_TIMESTAMP) ORDER BY {order}"
    )
    connection = current_backends().database.context.db()
    _, rows = await connection.execute_query(spell(connection, sql), values)
    readers = _readers()
    return [read_row(row, readers) for row in rows]


@cache
def _readers() -> Mapping[str, Reader]:
    return {
        **readers_of(Monitor, _columns_of_monitors()),
        **readers_of(CheckState, _OF_CHECK_STATE),
        "is_muted": bool,
        **readers_of(Mute, _OF_MUTE),
    }


def _columns_of_monitors() -> Sequence[str]:
    return (
        "id",
        "key",
        *column_names(),
        "contract_read_at",
        "contract_problem",
        "status",
        "status_changed_at",
        "created_at",
        "updated_at",
        "version",
    )


def _of_team(team_id: UUID) -> tuple[str, Any]:
    """Return a condition for a team's monitors that lets PostgreSQL use the index (team, id) for every page.

    With `=`, PostgreSQL would order by the id alone. It might then scan the primary key, including all newer
    monitors of other teams. The array is written into the SQL, so that PostgreSQL plans for one element. If
    the array were a parameter, PostgreSQL would estimate ten elements, and would plan the query on each use.
    """
    is_team = "= ANY(ARRAY[{}::uuid])" if is_postgres(current_backends().database.context.db()) else "= {}"
    return f"monitors.team_id {is_team}", str(team_id)


def _contains(text: str) -> str:
    escaped = _WILDCARD.sub(r"\\\g<0>", text)
    return f"%{escaped}%"


# Excludes incidents with a recent or pending delivery to the channel, or with a delivery skipped for a reason
# other than a mute. The lower bound on the id uses the index (channel, id), so that a month of old deliveries
# is not read.
_TO_REMIND_OF = """
    SELECT id, monitor_id FROM incidents
    WHERE team_id = $1 AND resolved_at IS NULL AND acknowledged_at IS NULL AND confirmed_at <= $2
    AND id NOT IN (
        SELECT subject_id FROM notification_deliveries
        WHERE channel_id = $3 AND id >= $4 AND subject_id IS NOT NULL
        AND (created_at > $2 OR status = 'pending' OR status = 'skipped' AND error_message <> $5)
    )
    ORDER BY id
"""


async def find_incidents_to_remind_of(
    team_id: UUID, channel_id: UUID, before: datetime, oldest_delivery_id: UUID, told_nothing: str
) -> dict[UUID, UUID]:
    """Return a team's incidents that a channel may be reminded of, oldest first, each with its monitor's id.

    These are open, unacknowledged incidents that were confirmed at or before `before`. An incident is left
    out if the channel has a delivery about it that was created after `before`, is pending, or was skipped
    with a message other than `told_nothing`. Deliveries older than `oldest_delivery_id` are ignored.
    """
    connection = current_backends().database.context.db()
    values = spell_values(connection, (team_id, before, channel_id, oldest_delivery_id, told_nothing))
    rows = await connection.execute_query_dict(spell(connection, _TO_REMIND_OF), values)
    return {read_id(row["id"]): read_id(row["monitor_id"]) for row in rows}
