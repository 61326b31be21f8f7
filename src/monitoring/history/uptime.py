"""Uptime: how long monitors were in each state, computed from their state changes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tortoise.queryset import QuerySet

from monitoring.history.queries import find_up_throughout, list_changes, list_spans
from monitoring.history.ranges import Range
from monitoring.history.timeline import Durations, Timeline, Window, divide, measure
from monitoring.monitors.health import State, Transition
from monitoring.monitors.maintenance.reading import read_spans
from monitoring.monitors.models import Monitor, StateChange

# How many changes are read at once. A server that keeps failing and recovering can cause a million a year.
PORTION = 2000

# The uptime ratio of a monitor that was in only one of these states.
_RATIOS = {State.UP: 1.0, State.DOWN: 0.0}


@dataclass(frozen=True, slots=True)
class Uptime:
    """How long a monitor was in each state, in a whole range and in each of its windows."""

    whole: tuple[Window, Durations]
    windows: list[tuple[Window, Durations]]


async def measure_uptime(monitor: Monitor, asked: Range) -> Uptime:
    """Return a monitor's uptime in a range that ends now or earlier. `monitor.check_state` must be loaded.

    The uptime is computed from the state changes within the range and the last change before it, not from
    checks. The maintenance spans and only one portion of the changes are in memory at a time.
    """
    whole = (asked.start, asked.end)
    windows = divide(*whole, asked.window) if asked.window else [whole]
    timeline = Timeline(windows, await read_spans(monitor.id, *whole))
    async for portion in _read_portions(monitor.id, *whole):
        timeline.go_on(portion)
    total, each = timeline.end(monitor.check_state.seen_until)
    return Uptime((whole, total), list(zip(windows, each, strict=True)) if asked.window else [])


async def measure_ratios(
    monitor_ids: Collection[UUID], start: datetime, end: datetime
) -> dict[UUID, float | None]:
    """Return the monitors' `uptime_ratio` in a range that ends now or earlier, with at most three queries.

    The range should not be much longer than a day, because the state changes of all monitors that were not
    always up are in memory at once.
    """
    always_up = await find_up_throughout(monitor_ids, start)
    others = [id_ for id_ in monitor_ids if id_ not in always_up]
    spans = await list_spans(others, start, end)
    ratios: dict[UUID, float | None] = dict.fromkeys(monitor_ids)
    ratios |= dict.fromkeys(always_up, 1.0)
    for id_, (changes, seen_until) in (await list_changes(others, start, end)).items():
        ratios[id_] = _measure_ratio(changes, (start, end), seen_until, spans.get(id_, ()))
    return ratios


def _measure_ratio(
    history: Sequence[Transition], window: Window, seen_until: datetime | None, spans: Sequence[Window]
) -> float | None:
    *earlier, last = history
    lasts = seen_until is None or seen_until > max(last.changed_at, window[0])
    states = {state for _, state in (history if lasts else earlier)} & _RATIOS.keys()
    if spans or states == _RATIOS.keys():
        return measure(history, [window], seen_until, spans)[0].uptime_ratio
    # Most monitors were in only one state. To save time, no durations are computed for them, because a list
    # may have thousands of monitors.
    return _RATIOS[states.pop()] if states else None


async def _read_portions(monitor_id: UUID, start: datetime, end: datetime) -> AsyncIterator[list[Transition]]:
    changes = StateChange.filter(monitor_id=monitor_id)
    yield await _read(changes.filter(changed_at__lte=start).order_by("-changed_at").limit(1))
    after: datetime | None = start
    while after:
        following = changes.filter(changed_at__gt=after, changed_at__lt=end).order_by("changed_at")
        portion = await _read(following.limit(PORTION))
        yield portion
        after = portion[-1].changed_at if len(portion) == PORTION else None


async def _read(rows: QuerySet[StateChange]) -> list[Transition]:
    return [
        Transition(changed_at, State(state))
        for changed_at, state in await rows.values_list("changed_at", "state")
    ]
