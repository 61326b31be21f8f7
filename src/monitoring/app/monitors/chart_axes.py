"""A chart's time axis, with its labels and their positions. Has no side effects."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from monitoring.history.tallies import Summary
from monitoring.history.timeline import Window

_MINUTE = timedelta(minutes=1)

# A phone has room for this many time labels.
_MAX_TICKS = 5
_BETWEEN_TICKS = tuple(minutes * _MINUTE for minutes in (1, 2, 5, 15, 30, 60, 120, 360))


class Axis(NamedTuple):
    """A chart's time axis. `unit` is the name for one of its time windows, such as "hour".

    Labels are placed at multiples of `between_ticks` in the user's local time. `tick_format` formats the
    times in labels, and `point_format` formats the times in descriptions of points.
    """

    unit: str
    between_ticks: timedelta
    tick_format: str
    point_format: str


HOURS = Axis("hour", timedelta(hours=6), "%H:%M", "%H:%M")


class Tick(NamedTuple):
    """A label and its position on an axis, in percent of the axis length."""

    at: float
    text: str


def axis_of_minutes(windows: Sequence[tuple[Window, Summary]]) -> Axis:
    """Return the axis for windows that are each a few minutes long and together last at most a day."""
    (start, end), (_, last_end) = windows[0][0], windows[-1][0]
    between_ticks = next(each for each in _BETWEEN_TICKS if last_end - start <= _MAX_TICKS * each)
    return Axis(f"{(end - start) // _MINUTE}-minute window", between_ticks, "%H:%M", "%H:%M")


def mark_times(windows: Sequence[Window], axis: Axis, zone: ZoneInfo) -> list[Tick]:
    """Return the axis labels, each at the start of a window, with times in the given time zone."""
    ticks = []
    for position, (start, end) in enumerate(windows):
        local = start.astimezone(zone)
        since_tick = timedelta(local.toordinal(), hours=local.hour, minutes=local.minute) % axis.between_ticks
        if since_tick < end - start:
            ticks.append(Tick(round(100 * position / len(windows), 1), local.strftime(axis.tick_format)))
    return ticks
