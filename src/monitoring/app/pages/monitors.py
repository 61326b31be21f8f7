"""The list of a team's monitors."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import orjson

from monitoring.app.charts import MAX_BARS, draw_bars
from monitoring.app.marks import Shown, Source
from monitoring.app.monitor_filter import echo_filter, place_problem, read_filter
from monitoring.app.monitor_words import STATUSES, UNANSWERED
from monitoring.app.pages import incidents, monitor, monitor_actions, monitor_forms, monitor_tables
from monitoring.app.routing import for_members
from monitoring.checks.latest import list_latest
from monitoring.contract.problems import Problem
from monitoring.contract.timestamps import read_timestamp
from monitoring.incidents.models import IncidentState
from monitoring.incidents.service import list_incidents
from monitoring.monitors import service
from monitoring.monitors.reading import (
    MonitorFilter,
    MonitorOrder,
    count_statuses,
    list_monitors_in_order,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.datastructures import QueryParams
    from starlette.responses import Response

    from monitoring.app.visits import Visit

MONITORS_A_PAGE = 50
MAX_PAGE_DIGITS = 6
OPEN_INCIDENTS_NAMED = 5
OPEN_INCIDENTS_COUNTED = 100

# Bars reach no further back, so that a list reads few partitions.
BARS_RANGE = timedelta(days=3)

# The states that people look for are always counted, the others if there is a monitor in them.
TILES = ("down", "degraded", "up", "maintenance", "paused")
ORDERS = {
    MonitorOrder.WORST: "down first",
    MonitorOrder.NAME: "name",
    MonitorOrder.SLOWEST: "slowest first",
    MonitorOrder.NEWEST: "newest first",
}


class Listed(NamedTuple):
    """A page of the list: its monitors, which of all that fit they are, and how many are in each state."""

    monitors: Sequence[dict[str, Any]]
    order: MonitorOrder
    number: int
    skipped: int
    total: int
    tiles: Sequence[tuple[str, int]]

    @property
    def has_more(self) -> bool:
        """Whether another page follows."""
        return self.skipped + len(self.monitors) < self.total


async def show_monitors(visit: Visit) -> Response:
    """List the team's monitors, what is down first, below their numbers by state and the open incidents."""
    team_id = visit.team.id
    if unchanged := await visit.await_change(Shown(Source.TEAM, team_id), Shown(Source.CHECKS, team_id)):
        return unchanged
    sought = echo_filter(visit.query)
    try:
        wanted = read_filter(visit.query)
    except Problem as problem:
        errors = place_problem(problem, visit.catalogue)
        nothing = Listed([], MonitorOrder.WORST, 1, 0, 0, [])
        return await _render_list(visit, nothing, 400, sought=sought, errors=errors)
    return await _render_list(visit, await _find(visit, wanted), sought=sought, errors={})


async def _find(visit: Visit, wanted: MonitorFilter) -> Listed:
    counts = await count_statuses(visit.team.id, replace(wanted, status=None))
    total = counts[wanted.status] if wanted.status else counts.total()
    order = MonitorOrder(visit.query["sort"]) if visit.query.get("sort") in ORDERS else MonitorOrder.WORST
    number = min(_page_of(visit.query), max(1, -(-total // MONITORS_A_PAGE)))
    skipped = (number - 1) * MONITORS_A_PAGE
    written = await list_monitors_in_order(visit.team.id, wanted, order, skipped, MONITORS_A_PAGE)
    shown = [each for each in STATUSES if each in TILES or counts[each] or each == wanted.status]
    tiles = [(each, counts[each]) for each in sorted(shown, key=_place_of_tile)]
    return Listed([_read_written(each) for each in written], order, number, skipped, total, tiles)


def _page_of(query: QueryParams) -> int:
    """Return the number of the page that is asked for. The first stands for everything that is no number."""
    text = query.get("page", "")
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < MAX_PAGE_DIGITS else 1


def _place_of_tile(status: str) -> int:
    return TILES.index(status) if status in TILES else len(TILES)


async def _render_list(visit: Visit, listed: Listed, status: int = 200, **context: object) -> Response:
    latest = await list_latest([each["id"] for each in listed.monitors], visit.now - BARS_RANGE, MAX_BARS)
    open_page = await list_incidents(visit.team.id, None, IncidentState.OPEN, OPEN_INCIDENTS_COUNTED, None)
    named = open_page.rows[:OPEN_INCIDENTS_NAMED]
    return visit.render_live(
        "monitors/list.html",
        status,
        listed=listed,
        unanswered=UNANSWERED,
        bars={monitor_id: draw_bars(checks) for monitor_id, checks in latest.items()},
        order_options=list(ORDERS.items()),
        open_count=len(open_page.rows),
        are_more_open=open_page.continues_after is not None,
        open_incidents=named,
        names=await service.name_monitors(visit.team.id, {incident.monitor_id for incident in named}),
        **context,
    )


def _read_written(written: str) -> dict[str, Any]:
    """Read a `Monitor` of the document; its id becomes a UUID, the time of its last check a datetime."""
    monitor: dict[str, Any] = orjson.loads(written)
    checked_at = monitor["last_checked_at"]
    return monitor | {
        "id": UUID(monitor["id"]),
        "last_checked_at": read_timestamp(checked_at) if checked_at else None,
    }


ROUTES = (
    for_members("/monitors", get=show_monitors),
    *monitor_forms.ROUTES,  # `/monitors/new` before any id
    *monitor.ROUTES,
    *monitor_tables.ROUTES,
    *monitor_actions.ROUTES,
    *incidents.ROUTES,
)
