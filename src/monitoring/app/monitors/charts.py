"""Bar charts of checks and days, as SVG coordinates and as text. Has no side effects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import NamedTuple

from monitoring.app.formatting import write_duration, write_percent, write_utc_day
from monitoring.history.models import Glimpse
from monitoring.history.timeline import Durations, Window
from monitoring.monitors.health import Outcome, State

MAX_BARS = 40

_BAR_STEP, _BAR_WIDTH, _BAR_HEIGHT = 5, 4, 28  # monitors.css has the same stroke width as `_BAR_WIDTH`
_LOWEST_BAR = 3
# The height of the bar for the slowest response. Only a failed check's bar has the full height, so failed
# checks stand out even without colours.
_HIGHEST_ANSWER = 22

_GOOD_RATIO = 0.99

# A day with less uptime and downtime in total than this shows no uptime ratio, because the ratio would depend
# too much on the first checks.
MIN_COUNTED = timedelta(hours=1)


class Bar(NamedTuple):
    """A check's bar, drawn upwards from the base line at `x`. `look` is the outcome, or `maintenance`."""

    x: int
    height: int
    look: str


@dataclass(frozen=True, eq=False)
class Bars:
    """A bar for each of a monitor's last checks, oldest first. The newest bar is always at the right edge.

    Instances are hashable by identity.
    """

    bars: list[Bar]
    words: str
    width: int = MAX_BARS * _BAR_STEP
    height: int = _BAR_HEIGHT

    @cached_property
    def paths(self) -> dict[str, str]:
        """One SVG path for all bars of each look. Separate rectangles would be over half of a page's bytes.

        The base line is at 0 and y grows upwards, which makes paths shorter. The style sheet flips the chart.
        """
        paths: defaultdict[str, list[str]] = defaultdict(list)
        for bar in self.bars:
            paths[bar.look].append(f"M{bar.x} 0v{bar.height}")
        return {look: "".join(paths[look]) for look in sorted(paths)}


class Day(NamedTuple):
    """A day's bar at `x`, with its look and a description in words."""

    x: int
    look: str
    words: str


@dataclass(frozen=True, slots=True)
class Days:
    """The uptime of each UTC day, oldest first, and the days with downtime (`troubled`), newest first."""

    days: list[Day]
    troubled: list[Day]
    words: str
    width: int
    height: int = _BAR_HEIGHT
    bar_width: int = _BAR_WIDTH


def draw_days(windows: Sequence[tuple[Window, Durations]]) -> Days:
    """Draw a bar for the uptime of each day.

    The look of a day is `up` without downtime, `degraded` with at least 99 % uptime, and `down` otherwise. A
    day without uptime data has the look `maintenance` or `unknown`.
    """
    days = [
        Day(position * _BAR_STEP, _look_of(durations), f"{write_utc_day(start)}: {_describe_day(durations)}")
        for position, ((start, _), durations) in enumerate(windows)
    ]
    troubled = [day for day in reversed(days) if day.look in (Outcome.DEGRADED, Outcome.DOWN)]
    words = f"{_count(len(days), 'day')}: {_count(len(troubled), 'day')} with downtime"
    return Days(days, troubled, words, len(days) * _BAR_STEP)


def _look_of(durations: Durations) -> str:
    if durations.uptime_ratio is None:
        return State.MAINTENANCE if durations.maintenance_seconds else Outcome.UNKNOWN
    if not durations.down_seconds:
        return Outcome.UP
    return Outcome.DEGRADED if durations.uptime_ratio >= _GOOD_RATIO else Outcome.DOWN


def _describe_day(durations: Durations) -> str:
    said = []
    if durations.up_seconds + durations.down_seconds >= MIN_COUNTED.total_seconds():
        said.append(f"{write_percent(durations.uptime_ratio)} up")
    elif durations.up_seconds:
        said.append(f"up {write_duration(durations.up_seconds)}")
    if durations.down_seconds:
        said.append(f"down {write_duration(durations.down_seconds)}")
    if durations.maintenance_seconds:
        said.append(f"in maintenance {write_duration(durations.maintenance_seconds)}")
    return ", ".join(said) or "not checked"


def draw_bars(checks: Sequence[Glimpse]) -> Bars:
    """Draw a bar for each check, oldest first. Heights are response times relative to the slowest check."""
    slowest_ms = max(_answers_ms(checks), default=0)
    begin = MAX_BARS - len(checks)
    bars = []
    for position, (outcome, response_time_ms, is_in_maintenance) in enumerate(checks, start=begin):
        height = _height_of(outcome, response_time_ms, slowest_ms)
        look = State.MAINTENANCE if is_in_maintenance else outcome
        bars.append(Bar(position * _BAR_STEP + _BAR_WIDTH // 2, height, look))
    return Bars(bars, describe_checks(checks))


def describe_checks(checks: Sequence[Glimpse]) -> str:
    """Describe the checks in words: "Last 40 checks: typical 45 ms, slowest 120 ms, 2 failed"."""
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


def _count(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
