"""Aggregates the results of up to a day of a monitor's checks in windows of 1, 5 or 15 minutes."""

from __future__ import annotations

from datetime import datetime, timedelta

from monitoring.backends.current import current_backends
from monitoring.history.queries import measure_windows
from monitoring.history.retention import oldest_result_kept
from monitoring.history.tallies import Summary
from monitoring.history.timeline import Window, ceil, divide, floor
from monitoring.monitors.models import Monitor

# The maximum number of windows: a day in windows of 15 minutes. A phone cannot display more.
MAX_WINDOWS = 96

LENGTHS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15))


async def measure_closely(
    monitor: Monitor, start: datetime, end: datetime, now: datetime
) -> list[tuple[Window, Summary]]:
    """Return a monitor's checks aggregated in windows of 1, 5 or 15 minutes.

    The windows have the shortest of these lengths that is at least the monitor's interval, and that gives at
    most `MAX_WINDOWS` windows. The range is rounded outwards. The list is empty if the range exceeds a day,
    if the interval exceeds 15 minutes, or if the results from `start` on are no longer kept. A window that
    has not ended is included if it has a check.
    """
    length = choose_length(end - start, timedelta(seconds=monitor.interval_seconds))
    if length is None or start < oldest_result_kept(now, current_backends().settings):
        return []
    start, end = floor(start, length), ceil(end, length)
    found = await measure_windows(monitor.id, start, end, length)
    return [
        (window, found.get(window[0], Summary()))
        for window in divide(start, end, length)
        if window[1] <= now or window[0] in found
    ]


def choose_length(span: timedelta, interval: timedelta) -> timedelta | None:
    """Return the length of windows for a span, or None if windows would have to be longer than 15 minutes."""
    return next((each for each in LENGTHS if each >= interval and span <= MAX_WINDOWS * each), None)
