from __future__ import annotations

import pytest

from monitoring.backends.counters import Counters
from monitoring.backends.remembered import MOST, SECONDS, Remembered

pytestmark = pytest.mark.anyio

MARK, NEWER_MARK = (1, b"a"), (1, b"b")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def remembered(clock: Clock) -> Remembered:
    return Remembered(Counters(), clock)


class TestRow:
    def test_is_known_under_its_name_and_the_mark_it_was_read_under(self, remembered: Remembered) -> None:
        remembered.remember("alice", MARK, remembered.good_until(), "row")
        assert remembered.recall("alice", MARK) == "row"
        assert remembered.recall("bob", MARK) is None
        assert remembered.recall("alice", NEWER_MARK) is None
        assert remembered.recall("alice", None) is None

    def test_that_was_read_without_a_mark_is_not_kept(self, remembered: Remembered) -> None:
        remembered.remember("alice", None, remembered.good_until(), "row")
        assert remembered.recall("alice", None) is None

    def test_is_good_for_a_while_from_before_it_was_read(self, remembered: Remembered, clock: Clock) -> None:
        good_until = remembered.good_until()
        clock.now += SECONDS / 2  # reading took long
        remembered.remember("alice", MARK, good_until, "row")
        assert remembered.recall("alice", MARK) == "row"
        clock.now += SECONDS / 2
        assert remembered.recall("alice", MARK) is None

    def test_is_one_of_so_many_at_most(self, remembered: Remembered) -> None:
        for number in range(3 * MOST):
            remembered.remember(str(number), MARK, remembered.good_until(), number)
        assert len(remembered._rows) <= MOST  # noqa: SLF001
        assert remembered.recall(str(3 * MOST - 1), MARK) == 3 * MOST - 1


class TestForgetEverywhere:
    @pytest.mark.parametrize("is_told", [True, False])
    async def test_waits_until_nobody_can_remember_if_nobody_can_be_told(
        self, monkeypatch: pytest.MonkeyPatch, *, is_told: bool
    ) -> None:
        waited = []

        async def announce() -> bool:
            return is_told

        async def sleep(seconds: float) -> None:
            waited.append(seconds)

        counters = Counters()
        monkeypatch.setattr(counters, "announce", announce)
        monkeypatch.setattr("asyncio.sleep", sleep)
        await Remembered(counters).forget_everywhere()
        assert waited == ([] if is_told else [SECONDS])
