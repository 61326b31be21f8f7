from __future__ import annotations

import asyncio

import pytest

from monitoring.backends.counters import Counters, Mark
from monitoring.backends.remembered import MAX_ROWS, REMEMBERED_SECONDS, Remembered
from this_thread import replace_in_this_thread

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
    return Remembered(Counters(), remembers=True, clock=clock)


class Table:
    """A table whose reads take time and can be told apart."""

    def __init__(self, clock: Clock, reading_seconds: float = 0.0) -> None:
        self._clock = clock
        self._reading_seconds = reading_seconds
        self.readings = 0

    async def read(self) -> int:
        self.readings += 1
        self._clock.now += self._reading_seconds
        return self.readings


class TestRow:
    async def test_is_known_under_its_name_and_the_mark_it_was_read_under(
        self, remembered: Remembered, clock: Clock
    ) -> None:
        table = Table(clock)
        asked: list[tuple[str, Mark | None]] = [
            ("alice", MARK),
            ("alice", MARK),
            ("bob", MARK),
            ("alice", NEWER_MARK),
            ("alice", None),
            ("alice", NEWER_MARK),
            ("alice", MARK),
        ]
        assert [await remembered.recall_or_read(*of, table.read) for of in asked] == [1, 1, 2, 3, 4, 3, 5]

    async def test_that_was_read_without_a_mark_is_not_kept(
        self, remembered: Remembered, clock: Clock
    ) -> None:
        table = Table(clock)
        assert [await remembered.recall_or_read("alice", None, table.read) for _ in range(2)] == [1, 2]

    async def test_is_read_each_time_where_nothing_is_remembered(self, clock: Clock) -> None:
        table, forgetful = Table(clock), Remembered(Counters(), remembers=False, clock=clock)
        assert [await forgetful.recall_or_read("alice", MARK, table.read) for _ in range(2)] == [1, 2]

    async def test_that_does_not_exist_is_asked_for_again(self, remembered: Remembered, clock: Clock) -> None:
        async def read_nothing() -> int | None:
            return None

        assert await remembered.recall_or_read("alice", MARK, read_nothing) is None
        assert await remembered.recall_or_read("alice", MARK, Table(clock).read) == 1

    async def test_is_good_for_a_while_from_before_it_was_read(
        self, remembered: Remembered, clock: Clock
    ) -> None:
        table = Table(clock, reading_seconds=REMEMBERED_SECONDS / 2)
        assert await remembered.recall_or_read("alice", MARK, table.read) == 1
        clock.now += REMEMBERED_SECONDS / 2 - 0.001
        assert await remembered.recall_or_read("alice", MARK, table.read) == 1
        clock.now += 0.001
        assert await remembered.recall_or_read("alice", MARK, table.read) == 2

    async def test_is_one_of_so_many_at_most(self, remembered: Remembered, clock: Clock) -> None:
        table = Table(clock)
        for name in map(str, range(MAX_ROWS)):
            await remembered.recall_or_read(name, MARK, table.read)
        assert await remembered.recall_or_read("0", NEWER_MARK, table.read) == MAX_ROWS + 1
        assert await remembered.recall_or_read("1", MARK, table.read) == 2, "a known name makes no more"
        assert await remembered.recall_or_read("new", MARK, table.read) == MAX_ROWS + 2
        assert len(remembered._rows) == 1  # noqa: SLF001


class TestForgetEverywhere:
    @pytest.mark.parametrize(
        ("remembers", "is_told", "waits"),
        [(True, True, []), (True, False, [REMEMBERED_SECONDS]), (False, False, [])],
        ids=["told", "not told", "nothing is remembered"],
    )
    async def test_waits_until_nobody_can_remember_if_nobody_can_be_told(
        self, monkeypatch: pytest.MonkeyPatch, *, remembers: bool, is_told: bool, waits: list[float]
    ) -> None:
        waited = []

        async def announce() -> bool:
            return is_told

        async def sleep(seconds: float) -> None:
            waited.append(seconds)

        counters = Counters()
        monkeypatch.setattr(counters, "announce", announce)
        replace_in_this_thread(monkeypatch, asyncio, "sleep", sleep)
        await Remembered(counters, remembers=remembers).forget_everywhere()
        assert waited == waits
