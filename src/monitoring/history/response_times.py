"""Computes percentiles of response times for hours or days, from rollups and results not yet rolled up."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from monitoring.backends.current import current_backends
from monitoring.history.models import Rollup
from monitoring.history.queries import tally_results
from monitoring.history.ranges import Range, WindowName
from monitoring.history.retention import oldest_kept
from monitoring.history.rollups import DAILY, HOURLY, read_progress, tally_of
from monitoring.history.tallies import Summary, Tally
from monitoring.history.timeline import Window, ceil, divide, floor

_HOUR, _DAY = HOURLY.length, DAILY.length


@dataclass(frozen=True, slots=True)
class ResponseTimes:
    """The response times of a whole range, and of each window."""

    whole: tuple[Window, Tally]
    windows: list[tuple[Window, Tally]]

    @property
    def summaries(self) -> list[tuple[Window, Summary]]:
        """Each window's summary."""
        return [(window, tally.summarize()) for window, tally in self.windows]


async def measure_response_times(monitor_id: UUID, asked: Range, now: datetime) -> ResponseTimes:
    """Return a monitor's response times in a range, which is rounded outwards to whole hours.

    The part for which hourly rollups are no longer kept is rounded to whole days. If the range is divided
    into hours, that part is cut off instead. Time for which no data is kept is always cut off.
    """
    start, end = _round(asked, now)
    windows = divide(start, end, asked.window) if asked.window else []
    beginnings = [beginning for beginning, _ in windows]
    tallies = [Tally() for _ in windows]
    total = Tally()
    for moment, tally in await _read_parts(monitor_id, start, end, asked.window):
        total.merge(tally)
        if windows:
            tallies[bisect_right(beginnings, moment) - 1].merge(tally)
    return ResponseTimes(((start, end), total), list(zip(windows, tallies, strict=True)))


def _round(asked: Range, now: datetime) -> Window:
    settings = current_backends().settings
    hours_since = oldest_kept(HOURLY.window, now, settings)
    oldest = hours_since if asked.window == "hour" else oldest_kept(DAILY.window, now, settings)
    start = floor(asked.start, _HOUR if asked.start >= hours_since else _DAY)
    if asked.start == asked.end:
        return start, start
    end = ceil(asked.end, _HOUR if asked.end >= hours_since else _DAY)
    return min(max(start, oldest), end), end


async def _read_parts(
    monitor_id: UUID, start: datetime, end: datetime, window: WindowName | None
) -> list[tuple[datetime, Tally]]:
    """Return tallies that together cover a range, each with its start, from as few rows as possible.

    The rows are daily rollups, hourly rollups before and after these days, and the results of the last hour
    or two.
    """
    hourly_until = await read_progress(HOURLY.name) or start
    daily_until = await read_progress(DAILY.name) or start
    days_start, days_end = ceil(start, _DAY), min(floor(end, _DAY), daily_until)
    if window == "hour" or days_start >= days_end:
        days_start = days_end = start
    rollups = [
        *await _read_rollups(HOURLY.window, monitor_id, start, days_start),
        *await _read_rollups(DAILY.window, monitor_id, days_start, days_end),
        *await _read_rollups(HOURLY.window, monitor_id, days_end, min(end, hourly_until)),
    ]
    parts = [(rollup.starts_at, tally_of(rollup)) for rollup in rollups]
    connection = current_backends().database.context.db()
    for raw_start, raw_end in divide(max(start, hourly_until), end, window or "day"):
        tallies = await tally_results(connection, [monitor_id], raw_start, raw_end)
        parts += [(raw_start, tally) for tally in tallies.values()]
    return parts


async def _read_rollups(window: str, monitor_id: UUID, start: datetime, end: datetime) -> list[Rollup]:
    if start >= end:
        return []
    return await Rollup.filter(monitor_id=monitor_id, window=window, starts_at__gte=start, starts_at__lt=end)
