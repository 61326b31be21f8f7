from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.notifications.channels.protocol import AttemptResult, Reception
from monitoring.notifications.models import DeliveryStatus
from monitoring.notifications.retries import MAX_ATTEMPTS, conclude, wait_after


class TestPauseThatIsAskedFor:
    @pytest.mark.parametrize(
        ("attempts", "asked", "wait"),
        [
            (1, 64.57, timedelta(seconds=64.57)),
            (1, 2, timedelta(seconds=5)),
            (1, 86_400, timedelta(hours=1)),
            (4, 86_400, timedelta(hours=2)),
            (MAX_ATTEMPTS, 60, None),
        ],
    )
    def test_is_granted_up_to_an_hour(self, attempts: int, asked: float, wait: timedelta | None) -> None:
        asks = AttemptResult(reception=Reception.TRY_AGAIN, retry_after_seconds=asked)
        assert conclude(asks, attempts, chance=0).wait == wait


class TestWait:
    @pytest.mark.parametrize(
        ("attempts", "wait"),
        [
            (1, timedelta(seconds=5)),
            (2, timedelta(minutes=5)),
            (3, timedelta(minutes=30)),
            (4, timedelta(hours=2)),
            (5, timedelta(hours=5)),
            (6, timedelta(hours=10)),
            (7, timedelta(hours=10)),
            (8, None),
        ],
    )
    def test_grows_until_the_eighth_attempt_was_the_last(self, attempts: int, wait: timedelta | None) -> None:
        assert wait_after(attempts, chance=0) == wait

    @given(st.integers(1, MAX_ATTEMPTS - 1), st.floats(0, 1))
    def test_is_by_chance_up_to_a_tenth_longer_and_never_shorter(self, attempts: int, chance: float) -> None:
        shortest, wait = wait_after(attempts, 0), wait_after(attempts, chance)
        assert shortest
        assert wait
        assert shortest <= wait <= shortest * 1.1

    def test_depends_on_chance(self) -> None:
        assert wait_after(1, chance=1) == timedelta(seconds=5.5)


DELIVERED = AttemptResult(reception=Reception.DELIVERED)
TRY_AGAIN = AttemptResult(reception=Reception.TRY_AGAIN)
REFUSED = AttemptResult(reception=Reception.REFUSED)


class TestAttempt:
    def test_that_was_delivered_is_the_last_one(self) -> None:
        conclusion = conclude(DELIVERED, 1, chance=0)
        assert (conclusion.status, conclusion.wait) == (DeliveryStatus.DELIVERED, None)
        assert conclusion.outcome == "delivered"

    @pytest.mark.parametrize(("attempts", "wait"), [(1, timedelta(seconds=5)), (2, timedelta(minutes=5))])
    def test_that_may_be_made_again_is_made_again_later(self, attempts: int, wait: timedelta) -> None:
        conclusion = conclude(TRY_AGAIN, attempts, chance=0)
        assert (conclusion.status, conclusion.wait) == (DeliveryStatus.PENDING, wait)
        assert conclusion.outcome == "retried"

    def test_is_the_last_one_when_it_is_the_eighth(self) -> None:
        conclusion = conclude(TRY_AGAIN, MAX_ATTEMPTS, chance=0)
        assert (conclusion.status, conclusion.wait) == (DeliveryStatus.FAILED, None)
        assert conclusion.outcome == "failed"

    def test_that_was_refused_is_the_last_one(self) -> None:
        conclusion = conclude(REFUSED, 1, chance=0)
        assert (conclusion.status, conclusion.wait) == (DeliveryStatus.FAILED, None)
        assert conclusion.outcome == "failed"
