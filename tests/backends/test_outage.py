from __future__ import annotations

import logging

import pytest

from monitoring.backends.outage import RETRY_AFTER_SECONDS, Outage

GONE = ConnectionError("gone")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def outage(clock: Clock) -> Outage:
    return Outage("The well is dry", clock=clock)


class TestMayTry:
    def test_everybody_may_while_nothing_has_failed(self, outage: Outage) -> None:
        assert [outage.may_try() for _ in range(3)] == [True, True, True]

    def test_nobody_may_right_after_a_failure(self, outage: Outage, clock: Clock) -> None:
        outage.begin(GONE)
        clock.now += RETRY_AFTER_SECONDS - 0.01
        assert not outage.may_try()

    def test_one_may_after_some_seconds_and_the_others_go_on_without(
        self, outage: Outage, clock: Clock
    ) -> None:
        outage.begin(GONE)
        clock.now += RETRY_AFTER_SECONDS
        assert [outage.may_try() for _ in range(3)] == [True, False, False]

    def test_another_may_when_the_first_never_tells(self, outage: Outage, clock: Clock) -> None:
        outage.begin(GONE)
        for _ in range(3):
            clock.now += RETRY_AFTER_SECONDS
            assert outage.may_try()

    def test_everybody_may_as_soon_as_one_has_succeeded(self, outage: Outage, clock: Clock) -> None:
        outage.begin(GONE)
        clock.now += RETRY_AFTER_SECONDS
        outage.may_try()
        outage.end()
        assert [outage.may_try() for _ in range(3)] == [True, True, True]


class TestLog:
    def test_says_once_that_it_began_and_once_that_it_is_over(
        self, outage: Outage, own_log: pytest.LogCaptureFixture
    ) -> None:
        with own_log.at_level(logging.INFO):
            for _ in range(3):
                outage.begin(GONE)
            for _ in range(3):
                outage.end()
        assert own_log.messages == ["The well is dry (ConnectionError)", "Over: The well is dry"]
