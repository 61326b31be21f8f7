"""The axis of time of a chart: what its windows are called, and where labels are placed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from monitoring.history.tallies import Summary
from monitoring.history.timeline import Window

_MINUTE = timedelta(minutes=1)

# A phone has room for this many labels of the time.
_MAX_TICKS = 5
_BETWEEN_TICKS = tuple(minutes * _MINUTE for minutes in (1, 2, 5, 15, 30, 60, 120, 360))


class Axis(NamedTuple):
    """What a window of a chart is called, and how often and in what form times are written.

    A label is placed where a multiple of `between_ticks` begins, by the reader's clock.
    """

    unit: str
    between_ticks: timedelta
    tick_format: str
    point_format: str


HOURS = Axis("hour", timedelta(hours=6), "%H:%M", "%H:%M")


class Tick(NamedTuple):
    """A place on an axis, in percent of its length, and its label. The ends of an axis are at 0 and 100."""

    at: float
    text: str


def axis_of_minutes(windows: Sequence[tuple[Window, Summary]]) -> Axis:
    """Return the axis of windows that are some minutes long, together at most a day."""
    (start, end), (_, last_end) = windows[0][0], windows[-1][0]
    between_ticks = next(each for each in _BETWEEN_TICKS if last_end - start <= _MAX_TICKS * each)
    return Axis(f"{(end - start) // _MINUTE}-minute window", between_ticks, "%H:%M", "%H:%M")


def mark_times(windows: Sequence[Window], axis: Axis, zone: ZoneInfo) -> list[Tick]:
    """Name some windows where they begin, by the clock of the zone."""
    ticks = []
    for position, (start, end) in enumerate(windows):
        local = start.astimezone(zone)
        since_tick = timedelta(local.toordinal(), hours=local.hour, minutes=local.minute) % axis.between_ticks
        if since_tick < end - start:
            ticks.append(Tick(round(100 * position / len(windows), 1), local.strftime(axis.tick_format)))
    return ticks
