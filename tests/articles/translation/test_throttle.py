"""An engine is asked no faster than its operator allows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.articles.translation.engines.protocol import TransientEngineError
from monitoring.articles.translation.engines.throttle import SlidingWindow, Throttle


class TestWindow:
    @pytest.mark.parametrize(
        ("asked", "booked"),
        [
            ([0, 0, 0, 0, 0], [0, 0, 10, 10, 20]),
            ([0, 4, 5, 5], [0, 4, 10, 14]),
            ([0, 1, 50, 51, 52], [0, 1, 50, 51, 60]),
        ],
    )
    def test_two_in_ten_seconds(self, asked: list[float], booked: list[float]) -> None:
        window = SlidingWindow(max_requests=2, window_seconds=10)
        assert [window.book(now) for now in asked] == booked

    @given(st.lists(st.integers(0, 5), max_size=50), st.integers(1, 5), st.integers(1, 20))
    def test_no_window_has_more_and_nobody_is_early(
        self, pauses: list[int], max_requests: int, window_seconds: int
    ) -> None:
        window, now, booked = SlidingWindow(max_requests, window_seconds), 0, []
        for pause in pauses:
            now += pause
            booked.append(window.book(now))
            assert booked[-1] >= now
        for first, next_window in zip(booked, booked[max_requests:], strict=False):
            assert next_window - first >= window_seconds


class TestPace:
    def test_no_more_threads_than_allowed_have_a_turn_at_once(self) -> None:
        throttle, counting, inside, most = Throttle(concurrency=2), Lock(), 0, 0

        def work(_: int) -> None:
            nonlocal inside, most
            with throttle.turn():
                with counting:
                    inside += 1
                    most = max(most, inside)
                with counting:
                    inside -= 1

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(work, range(200)))
        assert 1 <= most <= 2

    def test_who_waits_when_it_is_closed_is_sent_away(self) -> None:
        throttle = Throttle(window=SlidingWindow(max_requests=1, window_seconds=60))
        with throttle.turn(), ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(throttle.turn().__enter__)
            throttle.close()
            with pytest.raises(TransientEngineError, match="stopped before the engine was asked"):
                waiting.result(timeout=30)

    def test_a_turn_that_fails_is_given_back(self) -> None:
        throttle = Throttle(concurrency=1)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError), throttle.turn():
                raise ZeroDivisionError
