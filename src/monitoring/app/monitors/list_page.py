"""The page of a team's monitor list. Users can filter, sort and group it, and choose a compact layout."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from starlette.responses import Response

from monitoring.app import cookies
from monitoring.app.live.fingerprints import Shown, Source
from monitoring.app.live.following import live
from monitoring.app.monitors.charts import MAX_BARS, draw_bars
from monitoring.app.monitors.labels import ERRORS, STATUSES, UNANSWERED
from monitoring.app.monitors.list_filter import place_problem, read_filter
from monitoring.app.monitors.list_view import DENSITIES, ORDERS, ListView, read_view
from monitoring.app.monitors.mute_lengths import MUTE_LENGTHS
from monitoring.app.monitors.status_summary import (
    StatusSummary,
    name_responders,
    narrow_summary,
    read_status_summary,
)
from monitoring.app.monitors.type_forms import TYPE_FORMS
from monitoring.app.routing import for_members
from monitoring.app.visits import Visit
from monitoring.contract.problems import Problem
from monitoring.history.queries import list_latest
from monitoring.history.uptime import measure_ratios
from monitoring.monitors.deleting import Deletion, list_deletions
from monitoring.monitors.queries import (
    MonitorFilter,
    MonitorOrder,
    MonitorRow,
    Outline,
    count_statuses,
    count_tags,
    count_types,
    list_monitors_among,
    list_monitors_in_order,
    outline_monitors,
)
from monitoring.notifications.alert_coverage import is_alerted, list_alert_routes
from monitoring.notifications.muting import find_muted, list_mutes
from monitoring.notifications.routing import Route

TAGS_SHOWN = 12

# Bars show no checks older than this, so that a list reads few table partitions.
BARS_RANGE = timedelta(days=3)
UPTIME_RANGE = timedelta(hours=24)

# The statuses whose counts are always shown. The count of any other status is shown only if a monitor has
# that status, or if the filter names it.
TILES = ("down", "degraded", "up", "maintenance", "paused")
STATUS_ORDER = (*TILES, *(each for each in STATUSES if each not in TILES))

_BY_UPTIME = (MonitorOrder.UPTIME, MonitorOrder.HIGHEST_UPTIME)

# The most groups on a page. The limit keeps the page small for teams with thousands of monitors. Each tag's
# group links to the list of all monitors with the tag.
MAX_GROUPS = 28

_WORRYING = ("down", "validating", "degraded")

# Besides its first monitors, a group shows further monitors that are down. This is the most of these further
# monitors in all groups together.
MAX_DOWN = 200


class Listed(NamedTuple):
    """A page of the list: its monitors or groups, its position among all matches, and counts by status."""

    monitors: Sequence[MonitorRow] = ()
    groups: Sequence[Group] = ()
    number: int = 1
    skipped: int = 0
    total: int = 0
    tiles: Sequence[tuple[str, int]] = ()

    @property
    def has_more(self) -> bool:
        """Whether there is a next page. Grouped lists have only one page."""
        return not self.groups and self.skipped + len(self.monitors) < self.total


class RefusedAct(NamedTuple):
    """A refused action on several monitors: the reason, and the submitted values, which prefill the form."""

    sentence: str
    selected: frozenset[str] = frozenset()
    are_all: bool = False
    tag: str = ""


class Around(NamedTuple):
    """The data of a list page other than its rows.

    `summary` is about the whole team. `opened` is only about the monitors that match the filter.
    """

    counts: Counter[str]
    types: Counter[str]
    tags: Counter[str]
    routes: Sequence[Route]
    mutes: Mapping[UUID, datetime | None]
    deletions: Sequence[Deletion]
    summary: StatusSummary
    opened: StatusSummary


class Group(NamedTuple):
    """The monitors with the same tag, or all monitors without tags if `tag` is None.

    `shown` has the ids of the group's first monitors, and of further monitors that are down.
    """

    tag: str | None
    counts: Counter[str]
    shown: Sequence[UUID]

    @property
    def total(self) -> int:
        """The number of monitors in the group."""
        return self.counts.total()


def group_by_tag(outlines: Iterable[Outline], max_rows: int, only: str | None = None) -> list[Group]:
    """Group monitors by each of their tags, in the given order. At most `MAX_GROUPS` groups are returned.

    All groups together show about `max_rows` rows, including a heading for each group. Each group shows at
    least one monitor. The groups also show up to `MAX_DOWN` further monitors that are down. If `only` is
    given, only the group of that tag is returned.
    """
    members: defaultdict[str | None, list[Outline]] = defaultdict(list)
    for outline in outlines:
        for tag in outline.tags or (None,):
            if only in (None, tag):
                members[tag].append(outline)
    groups = [Group(tag, Counter(each.status for each in found), ()) for tag, found in members.items()]
    groups = sorted(groups, key=_place_of_group)[:MAX_GROUPS]
    room = max(1, max_rows // max(len(groups), 1) - 1)
    spare = MAX_DOWN
    for number, group in enumerate(groups):
        first, others = members[group.tag][:room], members[group.tag][room:]
        down = [each for each in others if each.status == "down"][:spare]
        spare -= len(down)
        groups[number] = group._replace(shown=[each.id for each in (*first, *down)])
    return groups


def _place_of_group(group: Group) -> tuple[object, ...]:
    """Return a group's sort key: the numbers of down, validating and degraded monitors, then the tag.

    A group with more of these monitors comes earlier. The group without a tag comes last.
    """
    worries = tuple(-group.counts[status] for status in _WORRYING)
    return (group.tag is None, *worries, group.tag or "")


async def show_monitors(visit: Visit) -> Response:
    """Show the counts by status, the open incidents, and the team's monitors, worst first by default."""
    return await show_list(visit, None)


async def show_list(visit: Visit, refused: RefusedAct | None) -> Response:
    """Show the monitor list. If an action was refused, also show the reason and the submitted values."""
    chosen = visit.query.get("density", "")
    view = read_view(visit.query, chosen or cookies.read_density(visit.request, visit.settings))
    try:
        wanted = read_filter(visit.query)
    except Problem as problem:
        around = await _read_around(visit.team.id, None)
        errors = place_problem(problem, visit.catalogue)
        return await _render_list(visit, view, Listed(), around, errors, refused)
    around = await _read_around(visit.team.id, wanted, is_sought=view.is_sought)
    listed = await _find(visit, view, wanted, around.counts)
    response = await _render_list(visit, view, listed, around, {}, refused)
    if chosen in DENSITIES:
        cookies.set_density(response, chosen, visit.settings)
    return response


async def _read_around(team_id: UUID, wanted: MonitorFilter | None, *, is_sought: bool = False) -> Around:
    summary = await read_status_summary(team_id)
    return Around(
        await count_statuses(team_id, replace(wanted, status=None)) if wanted else Counter(),
        await count_types(team_id, replace(wanted, type=None)) if wanted else Counter(),
        await count_tags(team_id, wanted) if wanted else Counter(),
        await list_alert_routes(team_id),
        await list_mutes(team_id),
        await list_deletions(team_id),
        summary,
        await narrow_summary(team_id, summary, wanted) if wanted and is_sought else summary,
    )


async def _find(visit: Visit, view: ListView, wanted: MonitorFilter, counts: Counter[str]) -> Listed:
    team_id, size = visit.team.id, view.density.monitors_a_page
    total = counts[wanted.status] if wanted.status else counts.total()
    tiles = _order_tiles(counts, wanted.status)
    if view.is_grouped:
        groups = group_by_tag(await _outline(visit, view, wanted), size, next(iter(wanted.tags), None))
        shown = list(dict.fromkeys(monitor_id for group in groups for monitor_id in group.shown))
        return Listed(await list_monitors_among(team_id, shown), groups, total=total, tiles=tiles)
    number = min(view.number, max(1, -(-total // size)))
    skipped = (number - 1) * size
    if view.order in _BY_UPTIME:
        outlines = (await _outline(visit, view, wanted))[skipped : skipped + size]
        monitors = await list_monitors_among(team_id, [each.id for each in outlines])
    else:
        monitors = await list_monitors_in_order(team_id, wanted, view.order, skipped, size)
    return Listed(monitors, (), number, skipped, total, tiles)


async def _outline(visit: Visit, view: ListView, wanted: MonitorFilter) -> list[Outline]:
    """Return all monitors that match a filter, in the view's order.

    If the view is ordered by uptime, monitors without uptime data come last.
    """
    outlines = await outline_monitors(visit.team.id, wanted, view.order)
    if view.order not in _BY_UPTIME:
        return outlines
    uptimes = await measure_ratios([each.id for each in outlines], visit.now - UPTIME_RANGE, visit.now)
    sign = -1 if view.order is MonitorOrder.HIGHEST_UPTIME else 1
    return sorted(outlines, key=lambda each: _place_of_ratio(uptimes[each.id], sign))


def _place_of_ratio(ratio: float | None, sign: int) -> tuple[bool, float]:
    return (ratio is None, sign * (ratio or 0.0))


def _order_tiles(counts: Counter[str], sought: str | None) -> list[tuple[str, int]]:
    shown = (each for each in STATUS_ORDER if each in TILES or counts[each] or each == sought)
    return [(each, counts[each]) for each in shown]


async def _render_list(  # noqa: PLR0913, PLR0917 - what the page shows
    visit: Visit,
    view: ListView,
    listed: Listed,
    around: Around,
    errors: Mapping[str, str],
    refused: RefusedAct | None,
) -> Response:
    by_id = {each["id"]: each for each in listed.monitors}
    most_common = around.tags.most_common(TAGS_SHOWN)
    return visit.render(
        "monitors/list.html",
        400 if errors or refused else 200,
        place=visit.locate("/monitors", **view.place) if refused else None,
        refused=refused,
        view=view,
        listed=listed,
        by_id=by_id,
        errors=errors,
        type_forms=TYPE_FORMS,
        types=around.types,
        tags=around.tags,
        common_tags=list(dict.fromkeys((*view.tags, *(tag for tag, _ in most_common)))),
        unanswered=UNANSWERED,
        error_words=ERRORS,
        worrying=_WORRYING,
        bars=await _draw_bars(visit.now, listed) if view.density.has_pictures else {},
        uptimes=await measure_ratios(list(by_id), visit.now - UPTIME_RANGE, visit.now),
        untold={id_ for id_, monitor in by_id.items() if not is_alerted(around.routes, id_, monitor["tags"])},
        tells_somebody=bool(around.routes),
        muted=find_muted(around.mutes, visit.now),
        mute_lengths=MUTE_LENGTHS,
        statuses=STATUS_ORDER,
        deletions=around.deletions,
        orders=ORDERS,
        summary=around.summary,
        opened=around.opened,
        responders=await name_responders(visit.team.id, around.opened.open_incidents),
    )


async def _draw_bars(now: datetime, listed: Listed) -> dict[UUID, Any]:
    latest = await list_latest([each["id"] for each in listed.monitors], now - BARS_RANGE, MAX_BARS)
    return {monitor_id: draw_bars(checks) for monitor_id, checks in latest.items()}


async def _name_sources(visit: Visit) -> list[Shown]:
    return [Shown(source, visit.team.id) for source in (Source.TEAM, Source.CHANNELS, Source.CHECKS)]


ROUTES = (for_members("/monitors", get=live(_name_sources, show_monitors)),)
