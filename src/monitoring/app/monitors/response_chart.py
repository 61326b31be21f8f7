"""Response time charts: percentiles, phases, and shaded incidents and maintenance. Has no side effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import NamedTuple
from zoneinfo import ZoneInfo

from monitoring.app.formatting import write_milliseconds
from monitoring.app.monitors.chart_axes import HOURS, Axis, Tick, mark_times
from monitoring.app.zones import UTC_ZONE
from monitoring.history.tallies import Summary
from monitoring.history.timeline import Window

SIDE = 1000
# The minimum width of a shaded time span, so that it stays visible.
MIN_SHADE = 4

# Labels of the shades.
HAPPENED = {"maintenance": "in maintenance", "incident": "down"}
PHASES = ("DNS", "connection", "TLS", "first byte", "transfer")

_MS_A_SECOND = 1000


class Line(NamedTuple):
    """A series with a value for each window.

    A window without responses is a gap in the path. A window between two gaps is drawn as a dot.
    Coordinates run from 0 to `SIDE`, left to right and top to bottom, and the page scales the chart. Each
    point is in the middle of its window.
    """

    look: str
    path: str
    dots: list[tuple[int, int]]


class Shade(NamedTuple):
    """A shaded time span, in the coordinates of `Line`. `look` is a key of `HAPPENED`."""

    look: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of each window's values, as lines or areas. `points` has a text for each window.

    Each area extends down to the axis. A later area covers the earlier ones up to its own height.
    """

    shades: list[Shade]
    across: list[Tick]
    upwards: list[Tick]
    across_words: str
    words: str
    points: list[str]
    lines: list[Line]
    areas: list[Line]
    side: int = SIDE

    @property
    def legend(self) -> dict[str, str]:
        """The labels of the shades, by look."""
        return {shade.look: HAPPENED[shade.look] for shade in self.shades}


_Series = list["float | None"]


def draw_chart(
    windows: Sequence[tuple[Window, Summary]],
    axis: Axis = HOURS,
    zone: ZoneInfo = UTC_ZONE,
    happened: Mapping[str, Sequence[Window]] | None = None,
) -> Chart | None:
    """Draw the percentiles of each window, and shade the time spans in `happened`.

    Returns None if no window has a response.
    """
    typical: _Series = [summary.p50_ms for _, summary in windows]
    slow: _Series = [summary.p95_ms for _, summary in windows]
    if not _known(typical, slow):
        return None
    top_ms = round_up(max(_known(typical, slow)))
    lines = [_draw_line("p50", typical, top_ms), _draw_line("p95", slow, top_ms)]
    words = _say(typical, slow, axis.unit)
    return _draw(windows, axis, zone, happened or {}, top_ms, _tell_times, words=words, lines=lines)


def draw_phases(
    windows: Sequence[tuple[Window, Summary]],
    axis: Axis = HOURS,
    zone: ZoneInfo = UTC_ZONE,
    happened: Mapping[str, Sequence[Window]] | None = None,
) -> Chart | None:
    """Draw the average duration of each phase as stacked areas. Returns None if no window has phases."""
    averages = [summary.phases.averages() for _, summary in windows]
    sums = [list(accumulate(each)) if each else None for each in averages]
    if not any(sums):
        return None
    top_ms = round_up(max(each[-1] for each in sums if each))
    levels: list[_Series] = [
        [each[number] if each else None for each in sums] for number in range(len(PHASES))
    ]
    areas = [_draw_area(f"phase-{number}", level, top_ms) for number, level in enumerate(levels)]
    totals = _known(levels[-1])
    words = f"Where the time of an average answer went, of {min(totals):,.0f} to {max(totals):,.0f} ms"
    return _draw(windows, axis, zone, happened or {}, top_ms, _tell_phases, words=words, areas=areas[::-1])


def round_up(most_ms: float) -> int:
    """Round up to the next number in the series 2, 4, 6, 8, 10, 20, 40 and so on."""
    magnitude = 1
    while True:
        for digit in (2, 4, 6, 8, 10):
            if digit * magnitude >= most_ms:
                return digit * magnitude
        magnitude *= 10


def _draw(  # noqa: PLR0913, PLR0917 - what both charts have in common
    windows: Sequence[tuple[Window, Summary]],
    axis: Axis,
    zone: ZoneInfo,
    happened: Mapping[str, Sequence[Window]],
    top_ms: int,
    tell: Callable[[Summary], str],
    *,
    words: str,
    lines: Sequence[Line] = (),
    areas: Sequence[Line] = (),
) -> Chart:
    if axis.unit == "day":
        zone = UTC_ZONE  # daily windows are UTC days
    start, end = windows[0][0][0], windows[-1][0][1]
    shades = [shade for look, spans in happened.items() for shade in _shade(look, spans, start, end)]
    for look in dict.fromkeys(shade.look for shade in shades):
        words += f"; the time {HAPPENED[look]} is shaded"
    return Chart(
        shades=shades,
        across=mark_times([window for window, _ in windows], axis, zone),
        upwards=[
            Tick(_in_percent(_height_at(each, top_ms)), _write_short(each))
            for each in (0, top_ms // 2, top_ms)
        ],
        across_words=f"{'Days' if axis.unit == 'day' else 'Times'} in {zone.key}",
        words=words,
        points=[
            f"{start.astimezone(zone).strftime(axis.point_format)}: {tell(summary)}"
            for (start, _), summary in windows
        ],
        lines=list(lines),
        areas=list(areas),
    )


def _shade(look: str, spans: Iterable[Window], start: datetime, end: datetime) -> Iterable[Shade]:
    """Yield a shade for each time span, clipped to the axis. Spans outside the axis are left out."""
    for began, ended in spans:
        left, right = ((min(max(each, start), end) - start) / (end - start) * SIDE for each in (began, ended))
        if right > left:
            width = max(right - left, MIN_SHADE)
            yield Shade(look, _round(min(left, SIDE - width)), _round(width))


def _draw_line(look: str, series: _Series, top_ms: int) -> Line:
    path, dots = [], []
    for stroke in _strokes(series, top_ms):
        if len(stroke) == 1:
            dots.append(stroke[0])
        else:
            path.append("M" + _join(stroke))
    return Line(look, "".join(path), dots)


def _draw_area(look: str, series: _Series, top_ms: int) -> Line:
    """Draw the area below a series. A window between two gaps is drawn over its full width."""
    half = SIDE / len(series) / 2
    path = []
    for stroke in _strokes(series, top_ms):
        edge = stroke
        if len(stroke) == 1:
            [(x, y)] = stroke
            edge = [(round(x - half), y), (round(x + half), y)]
        path.append(f"M{edge[0][0]} {SIDE}L{_join(edge)}V{SIDE}Z")
    return Line(look, "".join(path), [])


def _join(points: Sequence[tuple[int, int]]) -> str:
    return "L".join(f"{x} {y}" for x, y in points)


def _strokes(series: _Series, top_ms: int) -> list[list[tuple[int, int]]]:
    """Return the points of a series, split at its gaps."""
    strokes: list[list[tuple[int, int]]] = [[]]
    for position, each in enumerate(series):
        if each is not None:
            x, y = (position + 0.5) * SIDE / len(series), _height_at(each, top_ms)
            strokes[-1].append((round(x), round(y)))
        elif strokes[-1]:
            strokes.append([])
    return [stroke for stroke in strokes if stroke]


def _known(*many: _Series) -> list[float]:
    return [each for series in many for each in series if each is not None]


def _height_at(response_time_ms: float, top_ms: int) -> float:
    return SIDE - SIDE * response_time_ms / top_ms


def _in_percent(coordinate: float) -> float:
    return _round(100 * coordinate / SIDE)


def _say(typical: _Series, slow: _Series, unit: str) -> str:
    fast, late = _known(typical), _known(slow)
    count = f"{len(fast)} {unit}" if len(fast) == 1 else f"{len(fast)} {unit}s"
    return (
        f"Response times of {count}: "
        f"median {min(fast):,} to {max(fast):,} ms, "
        f"95th percentile {min(late):,} to {max(late):,} ms"
    )


def _tell_times(summary: Summary) -> str:
    checks, failed = summary.check_count, summary.failed_check_count
    if not checks:
        return "no checks"
    if summary.p50_ms is None:
        return "the only check failed" if checks == 1 else f"all {checks:,} checks failed"
    times = (
        f"median {write_milliseconds(summary.p50_ms)}, 95th percentile {write_milliseconds(summary.p95_ms)}"
    )
    return f"{times}, {failed:,} of {checks:,} checks failed" if failed else times


def _tell_phases(summary: Summary) -> str:
    averages = summary.phases.averages()
    if averages is None:
        return "no good answers"
    told = [f"{phase} {each:,.0f}" for phase, each in zip(PHASES, averages, strict=True)]
    return f"{', '.join(told)} ms"


def _write_short(milliseconds: int) -> str:
    return f"{milliseconds} ms" if milliseconds < _MS_A_SECOND else f"{milliseconds / _MS_A_SECOND:g} s"


def _round(number: float) -> float:
    return round(number, 1)
