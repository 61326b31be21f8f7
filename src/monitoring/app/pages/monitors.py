"""The monitors of a team: the list, and a page with everything known about one of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import orjson

from monitoring.app.charts import HOURS, MAX_BARS, Axis, draw_bars, draw_chart, draw_days
from monitoring.app.marks import Shown, Source
from monitoring.app.monitor_filter import echo_filter, place_problem, read_filter
from monitoring.app.monitor_words import ERRORS, LABELS, STATUSES, UNANSWERED
from monitoring.app.pages import incidents, monitor_actions, monitor_forms
from monitoring.app.routing import for_members
from monitoring.checks.latest import list_latest
from monitoring.checks.ranges import Range
from monitoring.checks.response_times import measure_response_times
from monitoring.checks.results import list_results
from monitoring.checks.uptime import measure_uptime
from monitoring.contract.problems import Problem
from monitoring.contract.timestamps import read_timestamp
from monitoring.incidents.models import IncidentState
from monitoring.incidents.service import list_incidents
from monitoring.monitors import service
from monitoring.monitors.configuration import configuration_of
from monitoring.monitors.maintenance.reading import is_within, read_spans
from monitoring.monitors.reading import (
    MonitorFilter,
    MonitorOrder,
    count_statuses,
    list_monitors_in_order,
)
from monitoring.notifications.service import find_told_channels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.datastructures import QueryParams
    from starlette.responses import Response

    from monitoring.app.visits import Visit
    from monitoring.checks.results import CheckResult
    from monitoring.monitors.models import Monitor

MONITORS_A_PAGE = 50
MAX_PAGE_DIGITS = 6
CHECKS_SHOWN = 20
INCIDENTS_SHOWN = 10
OPEN_INCIDENTS_NAMED = 5
OPEN_INCIDENTS_COUNTED = 100

# Bars reach no further back, so that a list reads few partitions.
BARS_RANGE = timedelta(days=3)
# A ratio of less time says more about the first checks than about the monitor.
MIN_COUNTED = timedelta(hours=1)
UPTIME_RANGES = {
    "24 hours": timedelta(hours=24),
    "7 days": timedelta(days=7),
    "30 days": timedelta(days=30),
    "90 days": timedelta(days=90),
}


class Period(NamedTuple):
    """How far back the chart of response times reaches, and in what windows."""

    title: str
    length: timedelta
    axis: Axis


PERIODS = {
    "24h": Period("24 hours", timedelta(hours=24), HOURS),
    "7d": Period("7 days", timedelta(days=7), Axis("hour", 2 * 24, "%-d %b")),
    "30d": Period("30 days", timedelta(days=30), Axis("day", 7 * 24, "%-d %b")),
    "90d": Period("90 days", timedelta(days=90), Axis("day", 21 * 24, "%-d %b")),
}

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


async def show_monitor(visit: Visit) -> Response:
    """Show a monitor: its state, uptime, response times, last checks, incidents and configuration."""
    monitor_id = visit.read_id("monitor_id")
    shown = (Shown(Source.TEAM, visit.team.id), Shown(Source.MONITOR, monitor_id))
    if unchanged := await visit.await_change(*shown):
        return unchanged
    now = visit.now
    monitor = await service.get_monitor(visit.team.id, monitor_id)
    checks = await list_results(monitor.id, limit=CHECKS_SHOWN)
    measured = {
        title: await measure_uptime(monitor, Range(now - length, now, "day"))
        for title, length in UPTIME_RANGES.items()
    }
    uptimes = {
        title: (UPTIME_RANGES[title].total_seconds(), uptime.whole[1]) for title, uptime in measured.items()
    }
    period = PERIODS.get(visit.query.get("range", ""), PERIODS["24h"])
    drawn = Range(now - period.length, now, period.axis.unit)
    response_times = await measure_response_times(monitor.id, drawn, now)
    incident_page = await list_incidents(visit.team.id, monitor.id, None, INCIDENTS_SHOWN, None)
    since = min(drawn.start, *(check.checked_at for check in checks), now)
    spans = await read_spans(monitor.id, since, now)
    return visit.render_live(
        "monitors/monitor.html",
        monitor=monitor,
        configuration=configuration_of(monitor),
        labels=LABELS,
        status_words=STATUSES[monitor.status],
        last_error=_explain_last_error(monitor, checks),
        checks=checks,
        error_words=ERRORS,
        uptimes=uptimes,
        days=draw_days(measured["90 days"].windows),
        min_counted_seconds=MIN_COUNTED.total_seconds(),
        unanswered=UNANSWERED,
        windows=response_times.windows,
        periods=PERIODS,
        period=period,
        chart=draw_chart(response_times.windows, spans, period.axis),
        checked_in_maintenance={each.checked_at for each in checks if is_within(spans, each.checked_at)},
        incidents=incident_page.rows,
        told=await find_told_channels(visit.team.id, monitor.id),
    )


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


def _explain_last_error(monitor: Monitor, checks: Sequence[CheckResult]) -> str | None:
    """Return the sentence of the last check; once that check is deleted, what its error code means."""
    if monitor.watch.last_error is None:
        return None
    message = checks[0].error_message if checks else None
    return message or ERRORS[monitor.watch.last_error]


ROUTES = (
    for_members("/monitors", get=show_monitors),
    *monitor_forms.ROUTES,  # `/monitors/new` before any id
    for_members("/monitors/{monitor_id}", get=show_monitor),
    *monitor_actions.ROUTES,
    *incidents.ROUTES,
)
