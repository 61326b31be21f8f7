"""Charts of checks: every check has a bar, failures show without colours, and words say the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.app.monitors.charts import (
    MAX_BARS,
    describe_checks,
    draw_bars,
    draw_days,
)
from monitoring.history.models import Glimpse
from monitoring.history.timeline import Durations

glimpses = st.builds(
    Glimpse,
    st.sampled_from(["up", "degraded", "down", "unknown"]),
    st.none() | st.integers(0, 86_400_000),
    st.booleans(),
)


def _up(*response_times_ms: int) -> list[Glimpse]:
    return [Glimpse("up", each) for each in response_times_ms]


class TestBars:
    @given(st.lists(glimpses, max_size=MAX_BARS))
    def test_are_one_a_check_within_the_picture_and_only_failures_fill_it(
        self, checks: list[Glimpse]
    ) -> None:
        picture = draw_bars(checks)
        looks = ["maintenance" if each.is_in_maintenance else each.outcome for each in checks]
        assert [bar.look for bar in picture.bars] == looks
        for bar, check in zip(picture.bars, checks, strict=True):
            assert 0 < bar.height <= picture.height
            assert (bar.height == picture.height) == (check.outcome == "down")
            assert 2 <= bar.x <= picture.width - 2  # half of a stroke

    def test_grow_with_the_response_time_and_end_at_the_right_edge(self) -> None:
        bars = draw_bars(_up(10, 50, 100)).bars
        assert bars[0].height < bars[1].height < bars[2].height
        assert [bar.x for bar in bars] == [187, 192, 197]

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


class TestDays:
    def test_say_what_happened_on_each_and_list_those_with_time_down(self) -> None:
        day = 86_400.0
        durations = [
            Durations(unknown_seconds=day),
            Durations(up_seconds=day),
            Durations(up_seconds=day - 600, down_seconds=600),
            Durations(up_seconds=day / 2, down_seconds=day / 4, maintenance_seconds=day / 4),
            Durations(maintenance_seconds=day),
            Durations(up_seconds=20, down_seconds=4),
            Durations(down_seconds=4),
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
            (25, "down"),
            (30, "down"),
        ]
        assert drawn.words == "7 days: 4 days with downtime"
        assert drawn.days[0].words == "1 Nov 2026: not checked"
        assert [each.words for each in drawn.troubled] == [
            "7 Nov 2026: down 4 s",
            "6 Nov 2026: up 20 s, down 4 s",
            "4 Nov 2026: 66.66 % up, down 6 h, in maintenance 6 h",
            "3 Nov 2026: 99.30 % up, down 10 min",
        ]
