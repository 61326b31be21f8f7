from __future__ import annotations

import logging

import pytest

from monitoring.backends.errors import BackendUnavailable
from monitoring.backends.outage import RETRY_AFTER_SECONDS, Breaker, Outage, note_refusal

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


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(clock)


class TestBreaker:
    def test_everybody_may_try_while_nothing_has_failed(self, breaker: Breaker) -> None:
        assert [breaker.may_try() for _ in range(3)] == [True, True, True]

    def test_nobody_may_try_right_after_a_failure(self, breaker: Breaker, clock: Clock) -> None:
        breaker.open()
        clock.now += RETRY_AFTER_SECONDS - 0.01
        assert not breaker.may_try()

    def test_one_may_try_after_some_seconds_and_the_others_go_on_without(
        self, breaker: Breaker, clock: Clock
    ) -> None:
        breaker.open()
        clock.now += RETRY_AFTER_SECONDS
        assert [breaker.may_try() for _ in range(3)] == [True, False, False]

    def test_another_may_try_when_the_first_never_tells(self, breaker: Breaker, clock: Clock) -> None:
        breaker.open()
        for _ in range(3):
            clock.now += RETRY_AFTER_SECONDS
            assert breaker.may_try()

    def test_everybody_may_try_as_soon_as_one_has_succeeded(self, breaker: Breaker, clock: Clock) -> None:
        breaker.open()
        clock.now += RETRY_AFTER_SECONDS
        breaker.may_try()
        breaker.close()
        assert [breaker.may_try() for _ in range(3)] == [True, True, True]


class TestLog:
    def test_says_once_that_it_began_and_once_that_it_is_over(
        self, outage: Outage, own_log: pytest.LogCaptureFixture
    ) -> None:
        with own_log.at_level(logging.INFO):
            for _ in range(3):
                outage.begin(GONE)
            for _ in range(3):
                outage.end()
        assert own_log.messages == [
            "The well is dry (ConnectionError: gone)",
            "Over: The well is dry (for 0 s; 0 requests and 0 tasks were refused)",
        ]

    def test_tells_at_the_end_how_long_it_was_and_how_much_was_refused(
        self, outage: Outage, clock: Clock, own_log: pytest.LogCaptureFixture
    ) -> None:
        with own_log.at_level(logging.INFO):
            for _ in range(2):  # the second outage counts from nothing
                outage.begin(GONE)
                clock.now += 90
                for what in ("request", "task", "request"):
                    note_refusal(what, BackendUnavailable("gone", outage))
                outage.end()
        assert (
            own_log.messages[1::2]
            == ["Over: The well is dry (for 90 s; 2 requests and 1 tasks were refused)"] * 2
        )

    def test_a_server_that_fails_every_other_caller_has_one_outage(
        self, clock: Clock, own_log: pytest.LogCaptureFixture
    ) -> None:
        outage = Outage("The disk is full", clock, settling_seconds=5)
        with own_log.at_level(logging.INFO):
            for _ in range(10):
                outage.begin(GONE)
                clock.now += 1
                outage.end()
            clock.now += 10
            outage.end()
        assert own_log.messages == [
            "The disk is full (ConnectionError: gone)",
            "Over: The disk is full (for 10 s; 0 requests and 0 tasks were refused)",
        ]

    def test_a_server_that_refuses_writes_is_not_over_because_it_answers_whoever_reads(
        self, outage: Outage, clock: Clock, own_log: pytest.LogCaptureFixture
    ) -> None:
        with own_log.at_level(logging.INFO):
            outage.begin(GONE, refuses_writes=True)
            for _ in range(10):
                clock.now += 10
                outage.end()
            assert len(own_log.messages) == 1
            outage.end(wrote=True)
            outage.begin(GONE)
            outage.end()  # this one was about nothing in particular
        assert [message.partition(":")[0] for message in own_log.messages[1:]] == [
            "Over",
            "The well is dry (ConnectionError",
            "Over",
        ]

    def test_work_that_no_outage_prevents_says_why_each_time(self, own_log: pytest.LogCaptureFixture) -> None:
        for _ in range(2):
            note_refusal("request", BackendUnavailable("somebody holds the lock"))
        assert own_log.messages == ["A request is refused: somebody holds the lock"] * 2
