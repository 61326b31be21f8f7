"""The charts of response times: how fast, where the time went, and what happened meanwhile. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from monitoring.app.zones import UTC_ZONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from monitoring.checks.ranges import WindowName
    from monitoring.checks.tallies import Tally
    from monitoring.checks.timeline import Window

SIDE = 1000
# A shade is never too narrow to be seen.
MIN_SHADE = 4

# What is shaded, in words.
HAPPENED = {"maintenance": "in maintenance", "incident": "down"}
PHASES = ("name", "connection", "TLS", "first byte", "transfer")

_SHOWN_PERCENTS = (50, 95)
_MS_A_SECOND = 1000


class Axis(NamedTuple):
    """What the windows of a chart are, "hour" or "day", and how often a label names one."""

    unit: WindowName
    hours_between_ticks: int
    tick_format: str


HOURS = Axis("hour", 6, "%H:%M")


class Line(NamedTuple):
    """A series by the window. Windows without answers are gaps in the path; one between gaps is a dot.

    Coordinates run from 0 to `SIDE`, to the right and downwards. The page stretches them to its room. A point
    stands in the middle of its window.
    """

    look: str
    path: str
    dots: list[tuple[float, float]]


class Tick(NamedTuple):
    """A place on an axis, in percent of its length, and its label. The ends of an axis are at 0 and 100."""

    at: float
    text: str


class Shade(NamedTuple):
    """A time in which something happened, in the coordinates of lines. `look` says what it was."""

    look: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Something by the hour or by the day, as lines or as areas one above the other."""

    shades: list[Shade]
    across: list[Tick]
    upwards: list[Tick]
    across_words: str
    words: str
    lines: list[Line]
    areas: list[Line]
    side: int = SIDE

    @property
    def legend(self) -> dict[str, str]:
        """What is shaded, by its look, in words."""
        return {shade.look: HAPPENED[shade.look] for shade in self.shades}


_Series = list["float | None"]


def draw_chart(
    windows: Sequence[tuple[Window, Tally]],
    axis: Axis = HOURS,
    zone: ZoneInfo = UTC_ZONE,
    happened: Mapping[str, Sequence[Window]] | None = None,
) -> Chart | None:
    """Draw the percentiles of each window, and shade what `happened`; None when no window has an answer."""
    found: dict[int, _Series] = {
        percent: [tally.latencies.percentile(percent) for _, tally in windows] for percent in _SHOWN_PERCENTS
    }
    if not _known(*found.values()):
        return None
    top_ms = round_up(max(_known(*found.values())))
    lines = [_draw_line(f"p{percent}", series, top_ms) for percent, series in found.items()]
    return _draw(windows, axis, zone, happened or {}, top_ms, words=_say(found, axis.unit), lines=lines)


def draw_phases(
    windows: Sequence[tuple[Window, Tally]],
    axis: Axis = HOURS,
    zone: ZoneInfo = UTC_ZONE,
    happened: Mapping[str, Sequence[Window]] | None = None,
) -> Chart | None:
    """Draw where the time of an average answer went, phase upon phase; None when nothing is known of it."""
    averages = [tally.phases.averages() for _, tally in windows]
    sums = [list(accumulate(each)) if each else None for each in averages]
    if not any(sums):
        return None
    top_ms = round_up(max(each[-1] for each in sums if each))
    levels: list[_Series] = [
        [each[number] if each else None for each in sums] for number in range(len(PHASES))
    ]
    floor: _Series = [0.0 if each else None for each in sums]
    areas = [
        _draw_area(f"phase-{number}", lower, upper, top_ms)
        for number, (lower, upper) in enumerate(pairwise([floor, *levels]))
    ]
    totals = _known(levels[-1])
    words = f"Where the time of an average answer went, of {min(totals):,.0f} to {max(totals):,.0f} ms"
    return _draw(windows, axis, zone, happened or {}, top_ms, words=words, areas=areas)


def round_up(most_ms: float) -> int:
    """Return the next round number of the series 2, 4, 6, 8, 10, 20, 40 and so on."""
    magnitude = 1
    while True:
        for digit in (2, 4, 6, 8, 10):
            if digit * magnitude >= most_ms:
                return digit * magnitude
        magnitude *= 10


def _draw(  # noqa: PLR0913 - what both charts have in common
    windows: Sequence[tuple[Window, Tally]],
    axis: Axis,
    zone: ZoneInfo,
    happened: Mapping[str, Sequence[Window]],
    top_ms: int,
    *,
    words: str,
    lines: Sequence[Line] = (),
    areas: Sequence[Line] = (),
) -> Chart:
    if axis.unit == "day":
        zone = UTC_ZONE  # days are kept by UTC
    start, end = windows[0][0][0], windows[-1][0][1]
    shades = [shade for look, spans in happened.items() for shade in _shade(look, spans, start, end)]
    for look in dict.fromkeys(shade.look for shade in shades):
        words += f"; the time {HAPPENED[look]} is shaded"
    return Chart(
        shades=shades,
        across=_mark_times([start for (start, _), _ in windows], axis, zone),
        upwards=[
            Tick(_in_percent(_height_at(each, top_ms)), _write_short(each))
            for each in (0, top_ms // 2, top_ms)
        ],
        across_words=f"{axis.unit.capitalize()}s in {zone.key}",
        words=words,
        lines=list(lines),
        areas=list(areas),
    )


def _mark_times(starts: Sequence[datetime], axis: Axis, zone: ZoneInfo) -> list[Tick]:
    """Name some windows where they begin, by the clock of the zone."""
    return [
        Tick(_in_percent(position * SIDE / len(starts)), local.strftime(axis.tick_format))
        for position, local in enumerate(start.astimezone(zone) for start in starts)
        if (24 * local.toordinal() + local.hour) % axis.hours_between_ticks == 0
    ]


def _shade(look: str, spans: Iterable[Window], start: datetime, end: datetime) -> Iterable[Shade]:
    """Lay spans over the axis. One that is cut off at its ends keeps what is within."""
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
            path.append("M" + "L".join(f"{x:g} {y:g}" for x, y in stroke))
    return Line(look, " ".join(path), dots)


def _draw_area(look: str, lower: _Series, upper: _Series, top_ms: int) -> Line:
    """Draw what lies between two series. A window between gaps is as wide as it is on the axis."""
    half = SIDE / len(lower) / 2
    path = []
    for below, above in zip(_strokes(lower, top_ms), _strokes(upper, top_ms), strict=True):
        edge = [*above, *reversed(below)]
        if len(above) == 1:
            [(x, top)], [(_, bottom)] = above, below
            left, right = _round(x - half), _round(x + half)
            edge = [(left, top), (right, top), (right, bottom), (left, bottom)]
        path.append("M" + "L".join(f"{x:g} {y:g}" for x, y in edge) + "Z")
    return Line(look, " ".join(path), [])


def _strokes(series: _Series, top_ms: int) -> list[list[tuple[float, float]]]:
    """Return the points of a series, divided where there is a gap."""
    strokes: list[list[tuple[float, float]]] = [[]]
    for position, each in enumerate(series):
        if each is not None:
            strokes[-1].append((_round((position + 0.5) * SIDE / len(series)), _height_at(each, top_ms)))
        elif strokes[-1]:
            strokes.append([])
    return [stroke for stroke in strokes if stroke]


def _known(*many: _Series) -> list[float]:
    return [each for series in many for each in series if each is not None]


def _height_at(response_time_ms: float, top_ms: int) -> float:
    return _round(SIDE - SIDE * response_time_ms / top_ms)


def _in_percent(coordinate: float) -> float:
    return _round(100 * coordinate / SIDE)


def _say(found: Mapping[int, _Series], unit: str) -> str:
    typical, slow = (_known(found[percent]) for percent in _SHOWN_PERCENTS)
    count = f"{len(typical)} {unit}" if len(typical) == 1 else f"{len(typical)} {unit}s"
    return (
        f"Response times of {count}: "
        f"half of the answers within {min(typical):,} to {max(typical):,} ms, "
        f"95 % within {min(slow):,} to {max(slow):,} ms"
    )


def _write_short(milliseconds: int) -> str:
    return f"{milliseconds} ms" if milliseconds < _MS_A_SECOND else f"{milliseconds / _MS_A_SECOND:g} s"


def _round(number: float) -> float:
    return round(number, 1)
