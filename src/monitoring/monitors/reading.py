"""Monitors as clients read them. They ask for this most, so the database writes the JSON itself."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum, auto
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import orjson

from monitoring.backends.current import current_backends
from monitoring.backends.fields import read_id
from monitoring.backends.rowsets import pack_ids
from monitoring.backends.statements import is_postgres, spell
from monitoring.backends.written_json import KeptMembers, write_column, write_object
from monitoring.contract.configurations import field_names
from monitoring.contract.problems import Problem
from monitoring.monitors.models import Monitor, Watch
from monitoring.monitors.request_headers import show_headers
from monitoring.notifications.models import Mute

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from monitoring.backends.rounds import Take

_OF_WATCH = {"last_checked_at", "next_check_at", "last_response_time_ms", "last_error"}

_ORDER = "monitors.team_id DESC, monitors.id DESC"

# What needs somebody comes first.
_WORST_FIRST = ("down", "validating", "degraded", "unknown", "pending", "maintenance", "up", "paused")

_IS_KEPT = "monitors.id NOT IN (SELECT monitor_id FROM pending_deletions WHERE team_id = {})"

_WILDCARD = re.compile(r"[\\%_]")


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorFilter:
    """Which monitors to list. Fields that are None do not filter; the others combine with *and*, as tags do.

    `leaves_out_deleted` is for those whose deletion can still be undone.
    """

    status: str | None = None
    tags: tuple[str, ...] = ()
    paused: bool | None = None
    search: str | None = None
    leaves_out_deleted: bool = False


class MonitorOrder(StrEnum):
    """How people want a list of monitors ordered. Where two are equal, the newer one comes first."""

    WORST = auto()  # by status, what is down first
    BEST = auto()
    NAME = auto()
    REVERSED_NAME = auto()
    UPTIME = auto()  # lowest first; who lists measures it
    HIGHEST_UPTIME = auto()
    SLOWEST = auto()  # by the response time of the last check
    QUICKEST = auto()
    NEWEST = auto()


_RANK = "CASE monitors.status {} END".format(
    " ".join(f"WHEN '{status}' THEN {rank}" for rank, status in enumerate(_WORST_FIRST))
)

# Whose last check has no response time comes last, both ways.
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
    """The little of a monitor that decides where a list shows it."""

    id: UUID
    status: str
    tags: list[str]


@dataclass(frozen=True, slots=True)
class WrittenMonitor:
    """A `Monitor` of the document in JSON, and the version of its configuration."""

    written: str
    version: int


@dataclass(frozen=True, slots=True)
class MonitorPage:
    """Monitors, each a `Monitor` of the document in JSON; `continues_after` is set if others follow."""

    monitors: list[str]
    continues_after: UUID | None


async def list_monitors(
    team_id: UUID, wanted: MonitorFilter, limit: int, after_id: UUID | None
) -> MonitorPage:
    """Return up to `limit` monitors of a team, newest first, starting after `after_id`."""
    given = _conditions(team_id, wanted) + ([("monitors.id < {}", str(after_id))] if after_id else [])
    source = f"{_where(given)} ORDER BY {_ORDER} LIMIT ${len(given) + 1}"
    rows = await _read(source, [*_values(given), limit + 1], _ORDER)
    found = [_show(row) for row in rows]
    if len(found) <= limit:
        return MonitorPage(found, None)
    return MonitorPage(found[:limit], UUID(orjson.loads(found[limit - 1])["id"]))


async def list_monitors_in_order(
    team_id: UUID, wanted: MonitorFilter, order: MonitorOrder, skip: int, limit: int
) -> list[str]:
    """Return up to `limit` monitors of a team, each a `Monitor` in JSON, without the first `skip`."""
    given, ordered = _conditions(team_id, wanted), f"{_ORDERS[order]} {_ORDER}"
    source = (
        f"JOIN watches ON watches.monitor_id = monitors.id {_where(given)}"
        f" ORDER BY {ordered} LIMIT ${len(given) + 1} OFFSET ${len(given) + 2}"
    )
    return [_show(row) for row in await _read(source, [*_values(given), limit, skip], ordered)]


async def outline_monitors(team_id: UUID, wanted: MonitorFilter, order: MonitorOrder) -> list[Outline]:
    """Return the outlines of all monitors of a team that a filter finds."""
    given = _conditions(team_id, wanted)
    connection = current_backends().database.context.db()
    sql = (
        "SELECT monitors.id, monitors.status, monitors.tags FROM monitors"  # noqa: S608 - names of our own
        f" JOIN watches ON watches.monitor_id = monitors.id {_where(given)}"
        f" ORDER BY {_ORDERS[order]} {_ORDER}"
    )
    _, rows = await connection.execute_query(spell(connection, sql), _values(given))
    return [Outline(read_id(id_), status, orjson.loads(tags)) for id_, status, tags in rows]


async def list_monitors_among(team_id: UUID, monitor_ids: Sequence[UUID]) -> list[str]:
    """Return those monitors of a team, each a `Monitor` in JSON, in this order."""
    given = [("monitors.team_id = {}", str(team_id)), _among(monitor_ids)]
    rows = await _read(_where(given), _values(given), _ORDER)
    written = {read_id(row["id"]): _show(row) for row in rows}
    return [written[monitor_id] for monitor_id in monitor_ids if monitor_id in written]


async def count_statuses(team_id: UUID, wanted: MonitorFilter) -> Counter[str]:
    """Count a team's monitors by their status."""
    given = _conditions(team_id, wanted)
    sql = f"SELECT status, count(*) AS number FROM monitors {_where(given)} GROUP BY status"  # noqa: S608 - ours
    connection = current_backends().database.context.db()
    rows = await connection.execute_query_dict(spell(connection, sql), _values(given))
    return Counter({row["status"]: row["number"] for row in rows})


async def count_tags(team_id: UUID, wanted: MonitorFilter) -> Counter[str]:
    """Count a team's monitors by their tags."""
    given = _conditions(team_id, wanted)
    sql = f"SELECT tags, count(*) AS number FROM monitors {_where(given)} GROUP BY tags"  # noqa: S608 - ours
    connection = current_backends().database.context.db()
    counts: Counter[str] = Counter()
    for row in await connection.execute_query_dict(spell(connection, sql), _values(given)):
        counts.update(dict.fromkeys(orjson.loads(row["tags"]), row["number"]))
    return counts


async def read_monitor(team_id: UUID, monitor_id: UUID) -> WrittenMonitor:
    """Return a monitor of the team. Raises Problem if it has none with this id."""
    found = await current_backends().rounds.join(_read_monitors, (team_id, monitor_id))
    if found is None:
        raise Problem("monitor_not_found")
    return found


async def _read_monitors(take: Take[tuple[UUID, UUID]]) -> list[WrittenMonitor | None]:
    """Read the monitors that are asked for at the same time, by team and id, or None."""
    asked = take()
    given = [_among([monitor_id for _, monitor_id in asked])]
    rows = await _read(_where(given), _values(given), _ORDER)
    found = {
        (read_id(row["team_id"]), read_id(row["id"])): WrittenMonitor(_show(row), row["version"])
        for row in rows
    }
    return [found.get(each) for each in asked]


def _among(monitor_ids: Sequence[UUID]) -> tuple[str, Any]:
    """Write the condition that a monitor is one of these."""
    connection = current_backends().database.context.db()
    among = "= ANY({}::uuid[])" if is_postgres(connection) else "IN (SELECT value FROM json_each({}))"
    return f"monitors.id {among}", pack_ids(connection, monitor_ids)


def _conditions(team_id: UUID, wanted: MonitorFilter) -> list[tuple[str, Any]]:
    """Write a filter as conditions, each with the value that it needs."""
    conditions = [
        _of_team(team_id),
        ("monitors.status = {}", wanted.status),
        # The column is JSON text: the quotes keep `shop` from matching `shopping`.
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


async def _read(source: str, values: list[Any], order: str) -> Sequence[Mapping[str, Any]]:
    connection = current_backends().database.context.db()
    sql = _select(is_postgres(connection)).format(source=source, order=order)
    _, rows = await connection.execute_query(spell(connection, sql), values)  # no dictionary for each
    return rows


@cache
def _select(on_postgres: bool) -> str:  # noqa: FBT001 - for the cache
    members = {
        name: _write_mute(on_postgres=on_postgres)
        if name == "mute"
        else write_column(Watch if name in _OF_WATCH else Monitor, name, on_postgres=on_postgres)
        for name in field_names("Monitor")
    }
    names = list(members)
    configured = names[names.index("name") : names.index("tags") + 1]  # as migration 0023 has them
    kept = KeptMembers("monitors.written_configuration", configured)
    members["next_check_at"] = f"CASE WHEN NOT monitors.paused THEN {members['next_check_at']} END"
    written = write_object(members, on_postgres=on_postgres, kept=kept).replace("{", "{{").replace("}", "}}")
    return (
        f"SELECT monitors.id, monitors.team_id, {written} AS written, monitors.version,"  # noqa: S608 - names of our own
        " monitors.encrypted_headers IS NULL AND monitors.request_headers <> '{{}}' AS may_show_credentials"
        " FROM (SELECT monitors.* FROM monitors {source}) AS monitors"
        " JOIN watches ON watches.monitor_id = monitors.id"
        " LEFT JOIN mutes ON mutes.monitor_id = monitors.id"
        " AND (mutes.muted_until IS NULL OR mutes.muted_until > CURRENT_TIMESTAMP) ORDER BY {order}"
    )


def _write_mute(*, on_postgres: bool) -> str:
    columns = {name: write_column(Mute, name, on_postgres=on_postgres) for name in field_names("Mute")}
    written = f"CASE WHEN mutes.id IS NOT NULL THEN {write_object(columns, on_postgres=on_postgres)} END"
    return written if on_postgres else f"json({written})"


def _show(row: Mapping[str, Any]) -> str:
    """Return the JSON of a monitor, and mask credentials that an earlier release stored plain."""
    written: str = row["written"]
    if not row["may_show_credentials"]:
        return written
    monitor = orjson.loads(written)
    monitor["request_headers"] = show_headers(monitor["request_headers"])
    return orjson.dumps(monitor).decode()


def _of_team(team_id: UUID) -> tuple[str, Any]:
    """Ask for a team's monitors in a way that uses the index of (team, id), whichever page is read.

    With `=`, PostgreSQL would conclude that ordering by id alone is enough, and might walk the primary key,
    past everything that other teams have created since.
    """
    if is_postgres(current_backends().database.context.db()):
        return "monitors.team_id = ANY({})", [str(team_id)]
    return "monitors.team_id = {}", str(team_id)


def _contains(text: str) -> str:
    escaped = _WILDCARD.sub(r"\\\g<0>", text)
    return f"%{escaped}%"
