"""Uptime: how long a monitor was in which state, read from its state changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tortoise.queryset import QuerySet

from monitoring.history.ranges import Range
from monitoring.history.timeline import Durations, Timeline, Window, divide
from monitoring.monitors import health
from monitoring.monitors.maintenance.reading import read_spans
from monitoring.monitors.models import Monitor, StateChange

# How many changes are read at once. A server that breaks and heals all the time makes a million in a year.
PORTION = 2000


@dataclass(frozen=True, slots=True)
class Uptime:
    """The durations of a whole range, and of each of its windows."""

    whole: tuple[Window, Durations]
    windows: list[tuple[Window, Durations]]


async def measure_uptime(monitor: Monitor, asked: Range) -> Uptime:
    """Measure a monitor, its watch loaded, in a range that ends now at the latest.

    It reads the changes within the range and the one before it, however many checks there were, and holds no
    more than one portion of them in memory, and the spans of maintenance.
    """
    whole = (asked.start, asked.end)
    windows = divide(*whole, asked.window) if asked.window else [whole]
    timeline = Timeline(windows, await read_spans(monitor.id, *whole))
    async for portion in _read_portions(monitor.id, *whole):
        timeline.go_on(portion)
    total, each = timeline.end(monitor.watch.seen_until)
    return Uptime((whole, total), list(zip(windows, each, strict=True)) if asked.window else [])


async def _read_portions(
    monitor_id: UUID, start: datetime, end: datetime
) -> AsyncIterator[list[health.StateChange]]:
    changes = StateChange.filter(monitor_id=monitor_id)
    yield await _read(changes.filter(changed_at__lte=start).order_by("-changed_at").limit(1))
    after: datetime | None = start
    while after:
        following = changes.filter(changed_at__gt=after, changed_at__lt=end).order_by("changed_at")
        portion = await _read(following.limit(PORTION))
        yield portion
        after = portion[-1].changed_at if len(portion) == PORTION else None


async def _read(rows: QuerySet[StateChange]) -> list[health.StateChange]:
    return [
        health.StateChange(changed_at, health.State(state))
        for changed_at, state in await rows.values_list("changed_at", "state")
    ]
