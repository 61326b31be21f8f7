from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.history.timeline import Durations, Timeline, Window, divide, measure
from monitoring.monitors.health import State, Transition

START = datetime(2026, 11, 20, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)


def at(seconds: float) -> datetime:
    return START + seconds * SECOND


def history(*changes: tuple[float, State]) -> list[Transition]:
    return [Transition(at(seconds), state) for seconds, state in changes]


def microseconds(durations: Durations) -> dict[State, int]:
    return {
        State.UP: round(durations.up_seconds * 1_000_000),
        State.DOWN: round(durations.down_seconds * 1_000_000),
        State.PAUSED: round(durations.paused_seconds * 1_000_000),
        State.MAINTENANCE: round(durations.maintenance_seconds * 1_000_000),
        State.UNKNOWN: round(durations.unknown_seconds * 1_000_000),
    }


def total(durations: Durations) -> int:
    return sum(microseconds(durations).values())


# What changes say; maintenance is told apart from them.
STATES = [state for state in State if state is not State.MAINTENANCE]

offsets = st.timedeltas(timedelta(0), timedelta(days=400))
histories = st.lists(st.builds(Transition, offsets.map(START.__add__), st.sampled_from(STATES))).map(
    lambda changes: sorted(changes, key=lambda change: change.changed_at)
)
seen_untils = st.none() | offsets.map(START.__add__)
cuts = st.lists(offsets.map(START.__add__), min_size=2).map(sorted)


class TestMeasure:
    @pytest.mark.parametrize(
        ("changes", "seen_until", "durations"),
        [
            ([], None, Durations()),
            ([], 50, Durations()),
            ([(0, State.UP)], None, Durations(up_seconds=100)),
            ([(-9, State.UP)], None, Durations(up_seconds=100)),
            ([(100, State.UP)], None, Durations()),
            ([(40, State.UP)], None, Durations(up_seconds=60)),
            ([(0, State.UP), (40, State.DOWN)], None, Durations(up_seconds=40, down_seconds=60)),
            ([(0, State.UP), (40, State.DOWN), (40, State.UP)], None, Durations(up_seconds=100)),
            ([(0, State.DOWN), (100, State.UP)], None, Durations(down_seconds=100)),
            ([(0, State.PENDING)], None, Durations(unknown_seconds=100)),
            ([(0, State.PENDING), (30, State.UP)], None, Durations(unknown_seconds=30, up_seconds=70)),
            (
                [(0, State.UP), (0.000001, State.PAUSED)],
                None,
                Durations(up_seconds=1e-6, paused_seconds=99.999999),
            ),
            ([(0, State.UP)], 40, Durations(up_seconds=40, unknown_seconds=60)),
            ([(0, State.DOWN)], 40, Durations(down_seconds=40, unknown_seconds=60)),
            ([(0, State.UP)], 0, Durations(unknown_seconds=100)),
            ([(0, State.UP)], 100, Durations(up_seconds=100)),
            ([(0, State.PAUSED)], 40, Durations(paused_seconds=100)),
            ([(0, State.UNKNOWN)], 40, Durations(unknown_seconds=100)),
            ([(0, State.UP), (60, State.DOWN)], 40, Durations(up_seconds=60, unknown_seconds=40)),
            ([(0, State.UP), (60, State.PAUSED)], 40, Durations(up_seconds=60, paused_seconds=40)),
        ],
    )
    def test_counts_each_state_between_its_changes(
        self, changes: list[tuple[float, State]], seen_until: float | None, durations: Durations
    ) -> None:
        vouched = None if seen_until is None else at(seen_until)
        assert measure(history(*changes), [(at(0), at(100))], vouched) == [durations]

    def test_counts_each_window_for_itself(self) -> None:
        changes = history((0, State.UP), (15, State.DOWN), (16, State.UP), (35, State.PAUSED))
        windows = [(at(0), at(10)), (at(10), at(20)), (at(20), at(20)), (at(25), at(30)), (at(30), at(40))]
        assert measure(changes, windows, None) == [
            Durations(up_seconds=10),
            Durations(up_seconds=9, down_seconds=1),
            Durations(),
            Durations(up_seconds=5),
            Durations(up_seconds=5, paused_seconds=5),
        ]

    def test_of_no_windows_is_empty(self) -> None:
        assert measure(history((0, State.UP)), [], None) == []

    @given(
        st.lists(st.tuples(st.integers(-5, 40), st.sampled_from(STATES)), max_size=12),
        st.sets(st.integers(0, 40), min_size=2),
        st.none() | st.integers(-5, 45),
        st.sets(st.integers(-5, 45)),
    )
    def test_agrees_with_looking_every_second(
        self, changes: list[tuple[int, State]], cut_at: set[int], seen_until: int | None, edges: set[int]
    ) -> None:
        rests = list(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False))
        changes.sort(key=lambda change: change[0])
        expected = []
        for start, end in pairwise(sorted(cut_at)):
            seen: Counter[State] = Counter()
            for second in range(start, end):
                begun = [change for change in changes if change[0] <= second]
                state = begun[-1][1] if begun else None
                is_last = len(begun) == len(changes)
                if state is State.PENDING or (
                    state in (State.UP, State.DOWN)
                    and is_last
                    and seen_until is not None
                    and second >= seen_until
                ):
                    state = State.UNKNOWN
                if state not in (None, State.PAUSED) and any(a <= second < b for a, b in rests):
                    state = State.MAINTENANCE
                if state:
                    seen[state] += 1
            expected.append(
                Durations(
                    up_seconds=seen[State.UP],
                    down_seconds=seen[State.DOWN],
                    paused_seconds=seen[State.PAUSED],
                    maintenance_seconds=seen[State.MAINTENANCE],
                    unknown_seconds=seen[State.UNKNOWN],
                )
            )
        windows = [(at(start), at(end)) for start, end in pairwise(sorted(cut_at))]
        vouched = None if seen_until is None else at(seen_until)
        maintenance = [(at(start), at(end)) for start, end in rests]
        assert measure(history(*changes), windows, vouched, maintenance) == expected

    @given(histories, cuts, seen_untils)
    def test_of_the_parts_sums_up_to_the_whole(
        self, changes: list[Transition], cut_at: list[datetime], seen_until: datetime | None
    ) -> None:
        parts = [
            microseconds(durations) for durations in measure(changes, list(pairwise(cut_at)), seen_until)
        ]
        [whole] = measure(changes, [(cut_at[0], cut_at[-1])], seen_until)
        assert microseconds(whole) == {
            state: sum(part[state] for part in parts) for state in microseconds(whole)
        }

    @given(histories, cuts, seen_untils, st.sets(st.integers(1, 50)))
    def test_does_not_depend_on_the_portions_in_which_a_history_is_told(
        self,
        changes: list[Transition],
        cut_at: list[datetime],
        seen_until: datetime | None,
        portions_end: set[int],
    ) -> None:
        windows = list(pairwise(cut_at))
        timeline = Timeline(windows)
        for start, end in pairwise([0, *sorted(portions_end), len(changes)]):
            timeline.go_on(changes[start:end])
        whole, each = timeline.end(seen_until)
        assert each == measure(changes, windows, seen_until)
        assert [whole] == measure(changes, [(cut_at[0], cut_at[-1])], seen_until)

    @given(histories, offsets, offsets, seen_untils)
    def test_leaves_out_and_doubles_nothing_since_the_first_change(
        self,
        changes: list[Transition],
        offset: timedelta,
        length: timedelta,
        seen_until: datetime | None,
    ) -> None:
        start, end = START + offset, START + offset + length
        [durations] = measure(changes, [(start, end)], seen_until)
        existed_since = max(start, changes[0].changed_at) if changes else end
        assert total(durations) == max(timedelta(0), end - existed_since) // MICROSECOND

    @given(histories, cuts, seen_untils)
    def test_has_an_uptime_from_0_to_1(
        self, changes: list[Transition], cut_at: list[datetime], seen_until: datetime | None
    ) -> None:
        for durations in measure(changes, list(pairwise(cut_at)), seen_until):
            ratio = durations.uptime_ratio
            assert ratio is None or 0 <= ratio <= 1


class TestUptimeRatio:
    @pytest.mark.parametrize(
        ("durations", "ratio"),
        [
            (Durations(up_seconds=3, down_seconds=1), 0.75),
            (Durations(up_seconds=3, down_seconds=1, paused_seconds=9, unknown_seconds=9), 0.75),
            (Durations(up_seconds=0.000001), 1.0),
            (Durations(down_seconds=0.000001), 0.0),
            (Durations(paused_seconds=9, unknown_seconds=9), None),
        ],
    )
    def test_leaves_out_time_that_was_paused_or_unknown(
        self, durations: Durations, ratio: float | None
    ) -> None:
        assert durations.uptime_ratio == ratio


class TestDivide:
    def test_cuts_at_full_hours(self) -> None:
        start, end = START + timedelta(minutes=59), START + timedelta(hours=2, seconds=1)
        one, two = START + timedelta(hours=1), START + timedelta(hours=2)
        assert divide(start, end, "hour") == [(start, one), (one, two), (two, end)]

    def test_cuts_at_midnight_in_utc_whatever_the_zone(self) -> None:
        zone = timezone(timedelta(hours=-9, minutes=-30))
        start, end = START - timedelta(hours=1), START + timedelta(hours=1)
        windows = divide(start.astimezone(zone), end.astimezone(zone), "day")
        assert windows == [(start, START), (START, end)]
        assert all(moment.tzinfo is UTC for window in windows for moment in window)

    @pytest.mark.parametrize(("window", "count"), [("hour", 24), ("day", 1)])
    def test_of_a_whole_day_has_only_whole_windows(self, window: Literal["hour", "day"], count: int) -> None:
        windows = divide(START, START + timedelta(days=1), window)
        assert [end - start for start, end in windows] == [timedelta(days=1) / count] * count

    @pytest.mark.parametrize("length", [timedelta(0), -SECOND])
    def test_of_nothing_is_empty(self, length: timedelta) -> None:
        assert divide(START, START + length, "hour") == []

    @given(offsets, st.timedeltas(MICROSECOND, timedelta(days=9)), st.sampled_from(["hour", "day"]))
    def test_leaves_neither_gaps_nor_overlaps_and_each_window_within_its_hour_or_day(
        self, offset: timedelta, length: timedelta, window: Literal["hour", "day"]
    ) -> None:
        start = START + offset
        windows: list[Window] = divide(start, start + length, window)
        assert (windows[0][0], windows[-1][1]) == (start, start + length)
        assert all(before[1] == after[0] for before, after in pairwise(windows))
        for first, end in windows:
            last = end - MICROSECOND
            assert first <= last
            assert (first.date(), first.hour if window == "hour" else 0) == (
                last.date(),
                last.hour if window == "hour" else 0,
            )
