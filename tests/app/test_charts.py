"""Charts of checks: every check has a bar, failures show without colours, and words say the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.app.charts import (
    MAX_BARS,
    SIDE,
    Axis,
    describe_checks,
    draw_bars,
    draw_chart,
    draw_days,
    round_up,
)
from monitoring.checks.latencies import Latencies
from monitoring.checks.latest import Glimpse
from monitoring.checks.tallies import Tally
from monitoring.checks.timeline import Durations

MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
HOUR = timedelta(hours=1)

glimpses = st.builds(
    Glimpse,
    st.sampled_from(["up", "degraded", "down", "unknown"]),
    st.none() | st.integers(0, 86_400_000),
    st.booleans(),
)


def _up(*response_times_ms: int) -> list[Glimpse]:
    return [Glimpse("up", each) for each in response_times_ms]


def _hours(*answers_ms: list[int]) -> list[tuple[tuple[datetime, datetime], Tally]]:
    return [
        ((MIDNIGHT + n * HOUR, MIDNIGHT + (n + 1) * HOUR), Tally(len(each), 0, Latencies(each)))
        for n, each in enumerate(answers_ms)
    ]


class TestBars:
    @given(st.lists(glimpses, max_size=MAX_BARS))
    def test_are_one_a_check_within_the_picture_and_only_failures_fill_it(
        self, checks: list[Glimpse]
    ) -> None:
        picture = draw_bars(checks)
        looks = ["maintenance" if each.is_in_maintenance else each.outcome for each in checks]
        assert [bar.look for bar in picture.bars] == looks
        for bar, check in zip(picture.bars, checks, strict=True):
            assert bar.y + bar.height == picture.height
            assert bar.height > 0
            assert (bar.height == picture.height) == (check.outcome == "down")
            assert 0 <= bar.x <= picture.width - picture.bar_width

    def test_grow_with_the_response_time_and_end_at_the_right_edge(self) -> None:
        bars = draw_bars(_up(10, 50, 100)).bars
        assert bars[0].height < bars[1].height < bars[2].height
        assert [bar.x for bar in bars] == [185, 190, 195]

    def test_of_a_failure_do_not_make_others_smaller(self) -> None:
        assert (
            draw_bars([*_up(100), Glimpse("down", 60_000)]).bars[0] == draw_bars([*_up(100), *_up(1)]).bars[0]
        )


class TestTheirWords:
    @pytest.mark.parametrize(
        ("checks", "words"),
        [
            ([], "No recent checks"),
            (_up(45), "Last 1 check: typical 45 ms, slowest 45 ms, none failed"),
            (
                [*_up(120, 45, 40), Glimpse("down", 900), Glimpse("down", None)],
                "Last 5 checks: typical 45 ms, slowest 120 ms, 2 failed",
            ),
            (
                [Glimpse("degraded", 2500), *_up(1)],
                "Last 2 checks: typical 1 ms, slowest 2,500 ms, none failed",
            ),
            ([Glimpse("down", None)] * 3, "Last 3 checks: 3 failed"),
            ([Glimpse("unknown", None)] * 2, "Last 2 checks: 2 unknown"),
            (
                [Glimpse("unknown", None), Glimpse("down", None), *_up(7)],
                "Last 3 checks: typical 7 ms, slowest 7 ms, 1 failed, 1 unknown",
            ),
            (
                [*_up(7), Glimpse("down", None, is_in_maintenance=True)],
                "Last 2 checks: typical 7 ms, slowest 7 ms, none failed, 1 in maintenance",
            ),
            ([Glimpse("down", None, is_in_maintenance=True)], "Last 1 check: 1 in maintenance"),
        ],
    )
    def test_tell_what_is_typical_slowest_failed_and_not_seen(
        self, checks: list[Glimpse], words: str
    ) -> None:
        assert describe_checks(checks) == words


class TestMaintenance:
    def test_is_shaded_where_it_was_and_cut_off_at_the_edges(self) -> None:
        hours = _hours(*[[10]] * 11)
        spans = [
            (MIDNIGHT - HOUR, MIDNIGHT + HOUR / 2),
            (MIDNIGHT + 4 * HOUR, MIDNIGHT + 5 * HOUR),
            (MIDNIGHT + 10 * HOUR, MIDNIGHT + 12 * HOUR),
        ]
        chart = draw_chart(hours, spans)
        assert chart
        assert chart.shades == [(0, SIDE / 20), (SIDE * 4 / 10, SIDE / 10)]
        assert "shaded" in chart.words

    def test_leaves_a_chart_of_one_hour_as_it_is(self) -> None:
        chart = draw_chart(_hours([10]), [(MIDNIGHT, MIDNIGHT + HOUR)])
        assert chart
        assert chart.shades == []


class TestTheChart:
    def test_is_none_without_an_answer(self) -> None:
        assert draw_chart([]) is None
        assert draw_chart(_hours([], [])) is None

    def test_has_gaps_where_nothing_was_answered_and_dots_for_lone_hours(self) -> None:
        chart = draw_chart(_hours([10], [20], [], [30], [], [40], [10]))
        assert chart
        typical, slow = chart.lines
        assert (typical.percent, slow.percent) == (50, 95)
        assert [
            step[0] for step in typical.path.replace("L", "|L").replace("M", "|M").split("|")[1:]
        ] == list("MLML")
        assert len(typical.dots) == 1

    def test_keeps_every_point_between_the_axes(self) -> None:
        chart = draw_chart(_hours(*([n * 37] for n in range(25))))
        assert chart
        coordinates = [float(each) for each in chart.lines[1].path.replace("M", "").replace("L", " ").split()]
        assert all(0 <= x <= SIDE for x in coordinates[::2])
        assert all(0 <= y <= SIDE for y in coordinates[1::2])
        assert coordinates[-1] < coordinates[1]

    def test_names_hours_and_a_round_number_above_the_slowest(self) -> None:
        chart = draw_chart(_hours(*[[130]] * 25))
        assert chart
        assert [tick.text for tick in chart.across] == ["00:00", "06:00", "12:00", "18:00", "00:00"]
        assert [tick.text for tick in chart.upwards] == ["0 ms", "100 ms", "200 ms"]

    def test_of_days_names_some_of_them(self) -> None:
        days = [
            ((start, start + 24 * HOUR), tally)
            for number, (_, tally) in enumerate(_hours(*[[130]] * 30))
            for start in [MIDNIGHT + number * 24 * HOUR]
        ]
        chart = draw_chart(days, axis=Axis("day", 7 * 24, "%-d %b"))
        assert chart
        assert [tick.text for tick in chart.across] == ["26 Nov", "3 Dec", "10 Dec", "17 Dec"]
        assert chart.words.startswith("Response times of 30 days: ")

    def test_names_long_times_in_seconds(self) -> None:
        chart = draw_chart(_hours([900], [1000]))
        assert chart
        assert [tick.text for tick in chart.upwards] == ["0 ms", "500 ms", "1 s"]

    def test_says_what_it_shows(self) -> None:
        chart = draw_chart(_hours([10], [], [20]))
        assert chart
        assert chart.words == (
            "Response times of 2 hours: half of the answers within 10 to 20 ms, 95 % within 10 to 20 ms"
        )

    @given(st.integers(0, 90_000_000))
    def test_rounds_up_to_an_even_number_that_is_not_far(self, most_ms: int) -> None:
        top_ms = round_up(most_ms)
        assert top_ms >= most_ms
        assert top_ms % 2 == 0
        assert top_ms <= max(2, most_ms * 2)


class TestDays:
    def test_say_what_happened_on_each_and_list_those_with_time_down(self) -> None:
        day = 86_400.0
        durations = [
            Durations(unknown_seconds=day),
            Durations(up_seconds=day),
            Durations(up_seconds=day - 600, down_seconds=600),
            Durations(up_seconds=day / 2, down_seconds=day / 4, maintenance_seconds=day / 4),
            Durations(maintenance_seconds=day),
        ]
        first = datetime(2026, 11, 1, tzinfo=UTC)
        starts = [first + timedelta(days=number) for number in range(len(durations) + 1)]
        drawn = draw_days(list(zip(pairwise(starts), durations, strict=True)))
        assert [(each.x, each.look) for each in drawn.days] == [
            (0, "unknown"),
            (5, "up"),
            (10, "degraded"),
            (15, "down"),
            (20, "maintenance"),
        ]
        assert drawn.words == "5 days: 2 days with time down"
        assert drawn.days[0].words == "1 Nov 2026: not checked"
        assert [each.words for each in drawn.troubled] == [
            "4 Nov 2026: 66.66 % up, down 6 h, in maintenance 6 h",
            "3 Nov 2026: 99.30 % up, down 10 min",
        ]
