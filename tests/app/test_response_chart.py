"""The charts of response times: gaps, shades and words say what is known, and nothing more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.app.monitors.chart_axes import Axis, axis_of_minutes
from monitoring.app.monitors.response_chart import MIN_SHADE, SIDE, draw_chart, draw_phases, round_up
from monitoring.history.latencies import Latencies
from monitoring.history.tallies import Phases, Summary, Tally

MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
HOUR = timedelta(hours=1)


Windows = list[tuple[tuple[datetime, datetime], Summary]]


def _windows(*summaries: Summary, length: timedelta = HOUR) -> Windows:
    return [
        ((MIDNIGHT + n * length, MIDNIGHT + (n + 1) * length), summary) for n, summary in enumerate(summaries)
    ]


def _hours(*answers_ms: list[int]) -> Windows:
    return _windows(*(Tally(len(each), 0, Latencies(each)).summarize() for each in answers_ms))


def _phases(*averages: Phases) -> Windows:
    return _windows(*(Summary(phases=each) for each in averages))


class TestShades:
    @pytest.mark.parametrize(("look", "words"), [("maintenance", "in maintenance"), ("incident", "down")])
    def test_are_where_something_happened_and_cut_off_at_the_edges(self, look: str, words: str) -> None:
        hours = _hours(*[[10]] * 10)
        spans = [
            (MIDNIGHT - HOUR, MIDNIGHT + HOUR / 2),
            (MIDNIGHT + 4 * HOUR, MIDNIGHT + 5 * HOUR),
            (MIDNIGHT + 9.5 * HOUR, MIDNIGHT + 12 * HOUR),
            (MIDNIGHT + 10 * HOUR, MIDNIGHT + 12 * HOUR),
        ]
        chart = draw_chart(hours, happened={look: spans})
        assert chart
        places = [(0, SIDE / 20), (SIDE * 4 / 10, SIDE / 10), (SIDE * 95 / 100, SIDE / 20)]
        assert chart.shades == [(look, *place) for place in places]
        assert chart.words.endswith(f"the time {words} is shaded")
        assert chart.legend == {look: words}

    def test_of_a_moment_can_be_seen_even_at_the_edge(self) -> None:
        end = MIDNIGHT + 10 * HOUR
        spans = [(MIDNIGHT + HOUR, MIDNIGHT + HOUR + timedelta(seconds=1)), (end - timedelta(seconds=1), end)]
        chart = draw_chart(_hours(*[[10]] * 10), happened={"incident": spans})
        assert chart
        assert [shade.width for shade in chart.shades] == [MIN_SHADE, MIN_SHADE]
        assert chart.shades[1].x + MIN_SHADE == SIDE

    def test_are_not_told_where_nothing_happened(self) -> None:
        chart = draw_chart(_hours([10]), happened={"incident": []})
        assert chart
        assert (chart.legend, "shaded" in chart.words) == ({}, False)


class TestPhases:
    def test_stand_one_upon_the_other_and_reach_the_average_answer(self) -> None:
        chart = draw_phases(_phases(Phases(2, 20, 40, 60, 80, 200), Phases(1, 10, 20, 30, 40, 100)))
        assert chart
        assert [tick.text for tick in chart.upwards] == ["0 ms", "100 ms", "200 ms"]
        assert [(area.look, area.path) for area in chart.areas] == [
            (f"phase-{number}", f"M250 1000L250 {top}L750 {top}V1000Z")
            for number, top in ((4, 0), (3, 500), (2, 700), (1, 850), (0, 950))
        ]
        assert "of 200 to 200 ms" in chart.words

    def test_have_gaps_and_a_lone_hour_is_as_wide_as_it_is(self) -> None:
        chart = draw_phases(_phases(Phases(1, 0, 0, 0, 1, 1), Phases(), Phases(1, 0, 0, 0, 1, 1)))
        assert chart
        assert chart.areas[0].path == "M0 1000L0 0L334 0V1000ZM666 1000L666 0L1000 0V1000Z"
        assert chart.areas[1].path.startswith("M0 1000L0 500L334 500V1000Z")

    def test_are_told_for_each_window(self) -> None:
        chart = draw_phases(_phases(Phases(2, 20, 40, 60, 3001, 200), Phases()))
        assert chart
        assert chart.points == [
            "00:00: DNS 10, connection 20, TLS 30, first byte 1,500, transfer 100 ms",
            "01:00: no good answers",
        ]

    def test_are_not_drawn_where_nothing_is_known_of_them(self) -> None:
        assert draw_phases(_hours([10], [20])) is None


class TestTheChart:
    def test_is_none_without_an_answer(self) -> None:
        assert draw_chart([]) is None
        assert draw_chart(_hours([], [])) is None

    def test_has_gaps_where_nothing_was_answered_and_dots_for_lone_hours(self) -> None:
        chart = draw_chart(_hours([10], [20], [], [30], [], [40], [10]))
        assert chart
        typical, slow = chart.lines
        assert (typical.look, slow.look) == ("p50", "p95")
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

    def test_names_hours_by_the_clock_of_the_reader(self) -> None:
        chart = draw_chart(_hours(*[[130]] * 24), zone=ZoneInfo("Asia/Kolkata"))
        assert chart
        assert [tick.text for tick in chart.across] == ["06:30", "12:30", "18:30", "00:30"]
        assert chart.across_words == "Times in Asia/Kolkata"

    def test_of_days_names_some_of_them(self) -> None:
        days = [
            ((start, start + 24 * HOUR), summary)
            for number, (_, summary) in enumerate(_hours(*[[130]] * 30))
            for start in [MIDNIGHT + number * 24 * HOUR]
        ]
        chart = draw_chart(
            days, axis=Axis("day", 7 * 24 * HOUR, "%-d %b", "%-d %b"), zone=ZoneInfo("Asia/Kolkata")
        )
        assert chart
        assert [tick.text for tick in chart.across] == ["22 Nov", "29 Nov", "6 Dec", "13 Dec"]
        assert chart.across_words == "Days in UTC"
        assert chart.words.startswith("Response times of 30 days: ")

    @pytest.mark.parametrize(
        ("minutes", "count", "zone", "labels"),
        [
            (1, 6, "UTC", ["00:00", "00:02", "00:04"]),
            (5, 27, "UTC", ["00:00", "00:30", "01:00", "01:30", "02:00"]),
            (15, 97, "UTC", ["00:00", "06:00", "12:00", "18:00", "00:00"]),
            (15, 97, "Asia/Kathmandu", ["06:00", "12:00", "18:00", "00:00"]),
            (5, 12, "Asia/Kathmandu", ["05:45", "06:00", "06:15", "06:30"]),
        ],
    )
    def test_of_minutes_names_as_many_as_a_phone_has_room_for(
        self, minutes: int, count: int, zone: str, labels: list[str]
    ) -> None:
        windows = _windows(*[Summary(1, 0, 130, 130)] * count, length=timedelta(minutes=minutes))
        chart = draw_chart(windows, axis_of_minutes(windows), ZoneInfo(zone))
        assert chart
        assert [tick.text for tick in chart.across] == labels
        assert chart.words.startswith(f"Response times of {count} {minutes}-minute windows: ")

    def test_tells_each_window_by_the_clock_of_the_reader(self) -> None:
        windows = _windows(
            Summary(2, 0, 130, 1234), Summary(15, 2, 130, 240), Summary(3, 3), Summary(1, 1), Summary()
        )
        chart = draw_chart(windows, zone=ZoneInfo("Asia/Kolkata"))
        assert chart
        assert chart.points == [
            "05:30: median 130 ms, 95th percentile 1.2 s",
            "06:30: median 130 ms, 95th percentile 240 ms, 2 of 15 checks failed",
            "07:30: all 3 checks failed",
            "08:30: the only check failed",
            "09:30: no checks",
        ]

    def test_names_long_times_in_seconds(self) -> None:
        chart = draw_chart(_hours([900], [1000]))
        assert chart
        assert [tick.text for tick in chart.upwards] == ["0 ms", "500 ms", "1 s"]

    def test_says_what_it_shows(self) -> None:
        chart = draw_chart(_hours([10], [], [20]))
        assert chart
        assert chart.words == ("Response times of 2 hours: median 10 to 20 ms, 95th percentile 10 to 20 ms")

    @given(st.integers(0, 90_000_000))
    def test_rounds_up_to_an_even_number_that_is_not_far(self, most_ms: int) -> None:
        top_ms = round_up(most_ms)
        assert top_ms >= most_ms
        assert top_ms % 2 == 0
        assert top_ms <= max(2, most_ms * 2)
