"""Charts of checks: where the bars and lines of an SVG go, and the same in words. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from monitoring.app.words import write_duration, write_percent
from monitoring.monitors.health import Outcome, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from monitoring.checks.latest import Glimpse
    from monitoring.checks.ranges import WindowName
    from monitoring.checks.tallies import Tally
    from monitoring.checks.timeline import Durations, Window

MAX_BARS = 40

SIDE = 1000

_BAR_STEP, _BAR_WIDTH, _BAR_HEIGHT = 5, 4, 28
_LOWEST_BAR = 3
# Only a failure has the full height, so that it stands out without colours too.
_HIGHEST_ANSWER = 22

_GOOD_RATIO = 0.99
_SHOWN_PERCENTS = (50, 95)
_MS_A_SECOND = 1000
_HOUR = timedelta(hours=1)


class Bar(NamedTuple):
    """A check: a rectangle that stands on the base line. `look` is its outcome, or `maintenance`."""

    x: int
    y: int
    height: int
    look: str


@dataclass(frozen=True, slots=True)
class Bars:
    """The last checks of a monitor, oldest first; the newest is always at the right edge."""

    bars: list[Bar]
    words: str
    width: int = MAX_BARS * _BAR_STEP
    height: int = _BAR_HEIGHT
    bar_width: int = _BAR_WIDTH


class Line(NamedTuple):
    """A percentile by the window. Windows without answers are gaps in the path; one between gaps is a dot.

    Coordinates run from 0 to `SIDE`, to the right and downwards. The page stretches them to its room.
    """

    percent: int
    path: str
    dots: list[tuple[float, float]]


class Axis(NamedTuple):
    """What the windows of a chart are, "hour" or "day", and how often a label names one."""

    unit: WindowName
    hours_between_ticks: int
    tick_format: str


HOURS = Axis("hour", 6, "%H:00")


class Tick(NamedTuple):
    """A place on an axis, in percent of its length, and its label. The ends of an axis are at 0 and 100."""

    at: float
    text: str


class Shade(NamedTuple):
    """A time in maintenance, in the coordinates of lines."""

    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Response times by the hour or by the day."""

    lines: list[Line]
    shades: list[Shade]
    across: list[Tick]
    upwards: list[Tick]
    unit: str
    words: str
    side: int = SIDE


class Day(NamedTuple):
    """A day, as a bar at `x`: how it looks, and what happened in words."""

    x: int
    look: str
    words: str


@dataclass(frozen=True, slots=True)
class Days:
    """The uptime of each day (UTC), oldest first, and the days that were not all up, newest first."""

    days: list[Day]
    troubled: list[Day]
    words: str
    width: int
    height: int = _BAR_HEIGHT
    bar_width: int = _BAR_WIDTH


def draw_days(windows: Sequence[tuple[Window, Durations]]) -> Days:
    """Draw days. Green was up all the time, amber at least 99 % of it."""
    days = [
        Day(position * _BAR_STEP, _look_of(durations), f"{start:%-d %b %Y}: {_say_day(durations)}")
        for position, ((start, _), durations) in enumerate(windows)
    ]
    troubled = [day for day in reversed(days) if day.look in (Outcome.DEGRADED, Outcome.DOWN)]
    words = f"{_count(len(days), 'day')}: {_count(len(troubled), 'day')} with time down"
    return Days(days, troubled, words, len(days) * _BAR_STEP)


def _look_of(durations: Durations) -> str:
    if durations.uptime_ratio is None:
        return State.MAINTENANCE if durations.maintenance_seconds else Outcome.UNKNOWN
    if not durations.down_seconds:
        return Outcome.UP
    return Outcome.DEGRADED if durations.uptime_ratio >= _GOOD_RATIO else Outcome.DOWN


def _say_day(durations: Durations) -> str:
    said = [] if durations.uptime_ratio is None else [f"{write_percent(durations.uptime_ratio)} up"]
    if durations.down_seconds:
        said.append(f"down {write_duration(durations.down_seconds)}")
    if durations.maintenance_seconds:
        said.append(f"in maintenance {write_duration(durations.maintenance_seconds)}")
    return ", ".join(said) or "not checked"


def draw_bars(checks: Sequence[Glimpse]) -> Bars:
    """Draw checks, oldest first. A bar's height is its response time, relative to the slowest one shown."""
    slowest_ms = max(_answers_ms(checks), default=0)
    begin = MAX_BARS - len(checks)
    bars = []
    for position, (outcome, response_time_ms, is_in_maintenance) in enumerate(checks, start=begin):
        height = _height_of(outcome, response_time_ms, slowest_ms)
        look = State.MAINTENANCE if is_in_maintenance else outcome
        bars.append(Bar(position * _BAR_STEP, _BAR_HEIGHT - height, height, look))
    return Bars(bars, describe_checks(checks))


def describe_checks(checks: Sequence[Glimpse]) -> str:
    """Say what the bars show: "Last 40 checks: typical 45 ms, slowest 120 ms, 2 failed"."""
    if not checks:
        return "No recent checks"
    answers_ms = sorted(_answers_ms(checks))
    counted = [each.outcome for each in checks if not each.is_in_maintenance]
    failed_count, blind_count = counted.count(Outcome.DOWN), counted.count(Outcome.UNKNOWN)
    parts = []
    if answers_ms:
        typical_ms = answers_ms[(len(answers_ms) - 1) // 2]
        parts += [f"typical {typical_ms:,} ms", f"slowest {answers_ms[-1]:,} ms"]
    if failed_count or (counted and not blind_count):
        parts.append(f"{failed_count or 'none'} failed")
    if blind_count:
        parts.append(f"{blind_count} unknown")
    if len(counted) < len(checks):
        parts.append(f"{len(checks) - len(counted)} in maintenance")
    return f"Last {_count(len(checks), 'check')}: {', '.join(parts)}"


def draw_chart(
    windows: Sequence[tuple[Window, Tally]], maintenance: Sequence[Window] = (), axis: Axis = HOURS
) -> Chart | None:
    """Draw the percentiles of each window, and what was maintenance; None when no window has an answer."""
    found = {
        percent: [tally.latencies.percentile(percent) for _, tally in windows] for percent in _SHOWN_PERCENTS
    }
    answers_ms = [each for series in found.values() for each in series if each is not None]
    if not answers_ms:
        return None
    top_ms = round_up(max(answers_ms))
    step = SIDE / max(len(windows) - 1, 1)
    ticks = [
        Tick(_in_percent(position * step), start.strftime(axis.tick_format))
        for position, ((start, _), _) in enumerate(windows)
        if start.timestamp() // _HOUR.total_seconds() % axis.hours_between_ticks == 0
    ]
    lines = [_draw_line(percent, series, step, top_ms) for percent, series in found.items()]
    heights = [
        Tick(_in_percent(_height_at(each, top_ms)), _write_short(each)) for each in (0, top_ms // 2, top_ms)
    ]
    shades = _shade(maintenance, windows[0][0][0], windows[-1][0][0])
    words = _say(found, axis.unit) + ("; the time in maintenance is shaded" if shades else "")
    return Chart(lines, shades, ticks, heights, axis.unit, words)


def round_up(most_ms: int) -> int:
    """Return the next round number of the series 2, 4, 6, 8, 10, 20, 40 and so on."""
    magnitude = 1
    while True:
        for digit in (2, 4, 6, 8, 10):
            if digit * magnitude >= most_ms:
                return digit * magnitude
        magnitude *= 10


def _answers_ms(checks: Iterable[Glimpse]) -> list[int]:
    return [
        response_time_ms
        for outcome, response_time_ms, _ in checks
        if response_time_ms is not None and outcome in (Outcome.UP, Outcome.DEGRADED)
    ]


def _height_of(outcome: str, response_time_ms: int | None, slowest_ms: int) -> int:
    if outcome == Outcome.DOWN:
        return _BAR_HEIGHT
    if outcome == Outcome.UNKNOWN or not response_time_ms:
        return _LOWEST_BAR
    return max(_LOWEST_BAR, round(_HIGHEST_ANSWER * response_time_ms / slowest_ms))


def _draw_line(percent: int, series: Sequence[int | None], step: float, top_ms: int) -> Line:
    points = [
        None if each is None else (_round(position * step), _height_at(each, top_ms))
        for position, each in enumerate(series)
    ]
    # A point after a gap begins a stroke; a point between two gaps is a dot.
    path, dots = [], []
    for (before, point), (_, after) in pairwise(pairwise([None, *points, None])):
        if point is None:
            continue
        if before is None and after is None:
            dots.append(point)
        else:
            path.append(f"{'M' if before is None else 'L'}{point[0]:g} {point[1]:g}")
    return Line(percent, " ".join(path), dots)


def _shade(spans: Sequence[Window], start: datetime, end: datetime) -> list[Shade]:
    """Lay spans over the axis, whose ends are the beginnings of the first and of the last window."""
    if end <= start:
        return []
    places = [[SIDE * min(max((each - start) / (end - start), 0), 1) for each in span] for span in spans]
    return [Shade(_round(left), _round(right - left)) for left, right in places if _round(right - left)]


def _height_at(response_time_ms: float, top_ms: int) -> float:
    return _round(SIDE - SIDE * response_time_ms / top_ms)


def _in_percent(coordinate: float) -> float:
    return _round(100 * coordinate / SIDE)


def _say(found: dict[int, list[int | None]], unit: str) -> str:
    typical, slow = ([each for each in found[percent] if each is not None] for percent in _SHOWN_PERCENTS)
    return (
        f"Response times of {_count(len(typical), unit)}: "
        f"half of the answers within {min(typical):,} to {max(typical):,} ms, "
        f"95 % within {min(slow):,} to {max(slow):,} ms"
    )


def _write_short(milliseconds: int) -> str:
    return f"{milliseconds} ms" if milliseconds < _MS_A_SECOND else f"{milliseconds / _MS_A_SECOND:g} s"


def _count(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _round(number: float) -> float:
    return round(number, 1)
