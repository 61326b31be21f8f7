"""Charts of checks: where the bars and lines of an SVG go, and the same in words. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from monitoring.monitors.health import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from monitoring.checks.latest import Glimpse
    from monitoring.checks.tallies import Tally
    from monitoring.checks.timeline import Window

MAX_BARS = 40

SIDE = 1000

_BAR_STEP, _BAR_WIDTH, _BAR_HEIGHT = 5, 4, 28
_LOWEST_BAR = 3
# Only a failure has the full height, so that it stands out without colours too.
_HIGHEST_ANSWER = 22

_HOURS_BETWEEN_TICKS = 6
_SHOWN_PERCENTS = (50, 95)
_MS_A_SECOND = 1000


class Bar(NamedTuple):
    """A check: a rectangle that stands on the base line."""

    x: int
    y: int
    height: int
    outcome: str


@dataclass(frozen=True, slots=True)
class Bars:
    """The last checks of a monitor, oldest first; the newest is always at the right edge."""

    bars: list[Bar]
    words: str
    width: int = MAX_BARS * _BAR_STEP
    height: int = _BAR_HEIGHT
    bar_width: int = _BAR_WIDTH


class Line(NamedTuple):
    """A percentile by the hour. Hours without answers are gaps in the path; an hour between gaps is a dot.

    Coordinates run from 0 to `SIDE`, to the right and downwards. The page stretches them to its room.
    """

    percent: int
    path: str
    dots: list[tuple[float, float]]


class Tick(NamedTuple):
    """A place on an axis, in percent of its length, and its label. The ends of an axis are at 0 and 100."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Response times by the hour."""

    lines: list[Line]
    across: list[Tick]
    upwards: list[Tick]
    words: str
    side: int = SIDE


def draw_bars(checks: Sequence[Glimpse]) -> Bars:
    """Draw checks, oldest first. A bar's height is its response time, relative to the slowest one shown."""
    slowest_ms = max(_answers_ms(checks), default=0)
    begin = MAX_BARS - len(checks)
    bars = []
    for position, (outcome, response_time_ms) in enumerate(checks, start=begin):
        height = _height_of(outcome, response_time_ms, slowest_ms)
        bars.append(Bar(position * _BAR_STEP, _BAR_HEIGHT - height, height, outcome))
    return Bars(bars, describe_checks(checks))


def describe_checks(checks: Sequence[Glimpse]) -> str:
    """Say what the bars show: "Last 40 checks: typical 45 ms, slowest 120 ms, 2 failed"."""
    if not checks:
        return "No recent checks"
    answers_ms = sorted(_answers_ms(checks))
    failed_count = sum(outcome == Outcome.DOWN for outcome, _ in checks)
    blind_count = sum(outcome == Outcome.UNKNOWN for outcome, _ in checks)
    parts = []
    if answers_ms:
        typical_ms = answers_ms[(len(answers_ms) - 1) // 2]
        parts += [f"typical {typical_ms:,} ms", f"slowest {answers_ms[-1]:,} ms"]
    if failed_count or not blind_count:
        parts.append(f"{failed_count or 'none'} failed")
    if blind_count:
        parts.append(f"{blind_count} unknown")
    return f"Last {_count(len(checks), 'check')}: {', '.join(parts)}"


def draw_chart(hours: Sequence[tuple[Window, Tally]]) -> Chart | None:
    """Draw the percentiles of each hour; None when no hour has an answer."""
    found = {
        percent: [tally.latencies.percentile(percent) for _, tally in hours] for percent in _SHOWN_PERCENTS
    }
    answers_ms = [each for series in found.values() for each in series if each is not None]
    if not answers_ms:
        return None
    top_ms = round_up(max(answers_ms))
    step = SIDE / max(len(hours) - 1, 1)
    ticks = [
        Tick(_in_percent(position * step), f"{start:%H}:00")
        for position, ((start, _), _) in enumerate(hours)
        if start.hour % _HOURS_BETWEEN_TICKS == 0
    ]
    lines = [_draw_line(percent, series, step, top_ms) for percent, series in found.items()]
    heights = [
        Tick(_in_percent(_height_at(each, top_ms)), _write_short(each)) for each in (0, top_ms // 2, top_ms)
    ]
    return Chart(lines, ticks, heights, _say(found))


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
        for outcome, response_time_ms in checks
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


def _height_at(response_time_ms: float, top_ms: int) -> float:
    return _round(SIDE - SIDE * response_time_ms / top_ms)


def _in_percent(coordinate: float) -> float:
    return _round(100 * coordinate / SIDE)


def _say(found: dict[int, list[int | None]]) -> str:
    typical, slow = ([each for each in found[percent] if each is not None] for percent in _SHOWN_PERCENTS)
    return (
        f"Response times of {_count(len(typical), 'hour')}: "
        f"half of the answers within {min(typical):,} to {max(typical):,} ms, "
        f"95 % within {min(slow):,} to {max(slow):,} ms"
    )


def _write_short(milliseconds: int) -> str:
    return f"{milliseconds} ms" if milliseconds < _MS_A_SECOND else f"{milliseconds / _MS_A_SECOND:g} s"


def _count(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _round(number: float) -> float:
    return round(number, 1)
