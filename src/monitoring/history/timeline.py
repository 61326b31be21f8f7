"""Computes how long a monitor was in each state, from its state changes.

Has no side effects outside its objects.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Literal

from monitoring.monitors.health import State, Transition

Window = tuple[datetime, datetime]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FOREVER = sys.maxsize
_LENGTHS = {"hour": timedelta(hours=1), "day": timedelta(days=1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Durations:
    """How many seconds a monitor was in each state. Time before the monitor existed is not counted.

    The sums are computed in whole microseconds, so that rounding neither loses nor adds time.
    """

    up_seconds: float = 0.0
    down_seconds: float = 0.0
    paused_seconds: float = 0.0
    maintenance_seconds: float = 0.0
    unknown_seconds: float = 0.0

    @property
    def uptime_ratio(self) -> float | None:
        """Time up divided by time up or down, from 0 to 1, or None if the monitor was neither up nor down."""
        counted_seconds = self.up_seconds + self.down_seconds
        return self.up_seconds / counted_seconds if counted_seconds else None


class Timeline:
    """Adds up, change by change, how long a monitor was in each state within each window.

    The caller can pass a long history in portions, which are not kept in memory. Windows must be in order and
    must not overlap. The same applies to the spans of `maintenance`. Time in these spans counts as
    maintenance, unless the monitor is paused. Pending time counts as unknown.
    """

    def __init__(self, windows: Sequence[Window], maintenance: Sequence[Window] = ()) -> None:
        self._maintenance = _Spans(maintenance)
        self._windows = [(_in_microseconds(start), _in_microseconds(end)) for start, end in windows]
        self._sums = [dict.fromkeys(State, 0) for _ in windows]
        self._next_window = 0
        self._since = 0
        self._state: State | None = None

    def go_on(self, changes: Iterable[Transition]) -> None:
        """Add the next changes, in order. If several changes have the same time, the last one counts."""
        for changed_at, state in changes:
            moment = _in_microseconds(changed_at)
            self._count_until(moment)
            self._since, self._state = moment, state

    def end(self, seen_until: datetime | None) -> tuple[Durations, list[Durations]]:
        """Return the durations of all windows together, and of each window.

        The last state continues to the end of the last window. However, UP and DOWN end at `seen_until`, if
        it is not None, and the time after `seen_until` counts as unknown.
        """
        if seen_until and self._state in (State.UP, State.DOWN):
            moment = max(_in_microseconds(seen_until), self._since)
            self._count_until(moment)
            self._since, self._state = moment, State.UNKNOWN
        self._count_until(_FOREVER)
        whole = {state: sum(sums[state] for sums in self._sums) for state in State}
        return _in_seconds(whole), [_in_seconds(sums) for sums in self._sums]

    def _count_until(self, until: int) -> None:
        if self._state is None:
            return
        while self._next_window < len(self._windows):
            start, end = self._windows[self._next_window]
            if start >= until:
                return
            self._count(self._sums[self._next_window], max(start, self._since), min(end, until))
            if end > until:
                return
            self._next_window += 1

    def _count(self, sums: dict[State, int], start: int, end: int) -> None:
        if self._state is None or start >= end:
            return
        covered = 0 if self._state is State.PAUSED else self._maintenance.covered(start, end)
        sums[State.MAINTENANCE] += covered
        sums[self._state] += end - start - covered


class _Spans:
    """Ordered spans of time that do not overlap. A lookup takes logarithmic time."""

    def __init__(self, spans: Sequence[Window]) -> None:
        self._starts = [_in_microseconds(start) for start, _ in spans]
        self._ends = [_in_microseconds(end) for _, end in spans]
        lengths = (end - start for start, end in zip(self._starts, self._ends, strict=True))
        self._sums = list(accumulate(lengths, initial=0))

    def covered(self, start: int, end: int) -> int:
        """Return how much of the time between two moments the spans cover."""
        return self._covered_until(end) - self._covered_until(start)

    def _covered_until(self, moment: int) -> int:
        begun = bisect_right(self._starts, moment)
        return self._sums[begun] - (max(self._ends[begun - 1] - moment, 0) if begun else 0)


def measure(
    changes: Iterable[Transition],
    windows: Sequence[Window],
    seen_until: datetime | None,
    maintenance: Sequence[Window] = (),
) -> list[Durations]:
    """Return the durations of each window. `changes` are all state changes of a monitor."""
    timeline = Timeline(windows, maintenance)
    timeline.go_on(changes)
    _, durations = timeline.end(seen_until)
    return durations


def floor(moment: datetime, length: timedelta) -> datetime:
    """Return the latest start of a window of this length that is not after `moment`."""
    return moment - (moment - _EPOCH) % length


def ceil(moment: datetime, length: timedelta) -> datetime:
    """Return the earliest start of a window of this length that is not before `moment`."""
    return moment + (_EPOCH - moment) % length


def divide(start: datetime, end: datetime, window: Literal["hour", "day"] | timedelta) -> list[Window]:
    """Divide a span into UTC hours, UTC days, or windows of a length that divides an hour evenly.

    The first and the last window may be shorter.
    """
    length = window if isinstance(window, timedelta) else _LENGTHS[window]
    windows = []
    start, end = start.astimezone(UTC), end.astimezone(UTC)
    while start < end:
        next_start = min(floor(start, length) + length, end)
        windows.append((start, next_start))
        start = next_start
    return windows


def _in_microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def _in_seconds(sums: Mapping[State, int]) -> Durations:
    return Durations(
        up_seconds=sums[State.UP] / 1_000_000,
        down_seconds=sums[State.DOWN] / 1_000_000,
        paused_seconds=sums[State.PAUSED] / 1_000_000,
        maintenance_seconds=sums[State.MAINTENANCE] / 1_000_000,
        unknown_seconds=(sums[State.UNKNOWN] + sums[State.PENDING]) / 1_000_000,
    )
