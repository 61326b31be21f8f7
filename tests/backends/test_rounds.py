from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import TYPE_CHECKING

import pytest

from monitoring.backends import rounds as rounds_module
from monitoring.backends.rounds import MAX_ITEMS, Rounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monitoring.backends.rounds import Take

pytestmark = pytest.mark.anyio

weather: ContextVar[str] = ContextVar("weather", default="none")


class Bakery:
    """Bakes a loaf of every dough in a round. The oven may be busy; it records what went in together."""

    def __init__(self) -> None:
        self.baked: list[list[str]] = []
        self.oven_is_free = asyncio.Event()
        self.oven_is_free.set()
        self.is_done = asyncio.Event()
        self.is_done.set()
        self.weathers: list[str] = []

    async def bake(self, take: Take[str]) -> Sequence[str | Exception]:
        await self.oven_is_free.wait()
        doughs = list(take())
        self.baked.append(doughs)
        self.weathers.append(weather.get())
        await self.is_done.wait()
        return [ValueError(dough) if dough == "stones" else f"loaf of {dough}" for dough in doughs]


@pytest.fixture
async def bakery() -> Bakery:
    return Bakery()


async def a_moment() -> None:
    """Let every task run until it waits."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_who_comes_alone_is_a_round_alone(bakery: Bakery) -> None:
    assert await Rounds().join(bakery.bake, "rye") == "loaf of rye"
    assert bakery.baked == [["rye"]]


async def test_who_comes_while_a_round_waits_for_its_turn_is_in_it_in_order(bakery: Bakery) -> None:
    rounds = Rounds()
    bakery.oven_is_free.clear()
    loaves = [asyncio.create_task(rounds.join(bakery.bake, dough)) for dough in "abc"]
    await a_moment()
    loaves.append(asyncio.create_task(rounds.join(bakery.bake, "d")))
    await a_moment()
    bakery.oven_is_free.set()
    assert await asyncio.gather(*loaves) == [f"loaf of {dough}" for dough in "abcd"]
    assert bakery.baked == [["a", "b", "c", "d"]]


async def test_who_comes_after_its_turn_is_in_the_next_and_does_not_wait_for_its_end(bakery: Bakery) -> None:
    rounds = Rounds()
    bakery.is_done.clear()
    first = asyncio.create_task(rounds.join(bakery.bake, "a"))
    await a_moment()
    others = [asyncio.create_task(rounds.join(bakery.bake, dough)) for dough in "bc"]
    await a_moment()
    assert bakery.baked == [["a"], ["b", "c"]]
    bakery.is_done.set()
    await asyncio.gather(first, *others)


async def test_a_round_has_a_greatest_number(bakery: Bakery) -> None:
    rounds = Rounds()
    await asyncio.gather(*(rounds.join(bakery.bake, str(number)) for number in range(MAX_ITEMS + 3)))
    assert [len(round_) for round_ in bakery.baked] == [MAX_ITEMS, 3]


async def test_a_round_has_a_greatest_size_and_what_is_larger_goes_alone(
    bakery: Bakery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds_module, "MAX_BYTES", 10)
    rounds, sizes = Rounds(), {"a": 6, "b": 4, "c": 1, "d": 50, "e": 10}
    await asyncio.gather(*(rounds.join(bakery.bake, dough, size) for dough, size in sizes.items()))
    assert bakery.baked == [["a", "b"], ["c"], ["d"], ["e"]]


async def test_what_goes_wrong_with_one_is_its_own(bakery: Bakery) -> None:
    rounds = Rounds()
    doughs = ("rye", "stones", "oats")
    loaves = await asyncio.gather(
        *(rounds.join(bakery.bake, dough) for dough in doughs), return_exceptions=True
    )
    assert (loaves[0], loaves[2]) == ("loaf of rye", "loaf of oats")
    assert isinstance(loaves[1], ValueError)


@pytest.mark.parametrize("is_taken", [True, False], ids=["in the round", "before its turn"])
async def test_what_goes_wrong_with_a_round_is_told_to_all_and_ends_with_it(
    bakery: Bakery, *, is_taken: bool
) -> None:
    is_broken = True

    async def bake(take: Take[str]) -> Sequence[str | Exception]:
        if is_broken:
            if is_taken:
                take()
            raise OSError("no power")
        return await bakery.bake(take)

    rounds = Rounds()
    loaves = await asyncio.gather(*(rounds.join(bake, dough) for dough in "abc"), return_exceptions=True)
    assert [str(error) for error in loaves] == ["no power"] * 3
    is_broken = False
    assert await rounds.join(bake, "d") == "loaf of d"


@pytest.mark.parametrize("is_taken", [True, False], ids=["too few outcomes", "nothing taken"])
async def test_a_round_that_forgets_somebody_fails_for_all_and_ends(
    bakery: Bakery, *, is_taken: bool
) -> None:
    is_broken = True

    async def bake(take: Take[str]) -> Sequence[str | Exception]:
        if not is_broken:
            return await bakery.bake(take)
        if is_taken:
            take()
        return []

    rounds = Rounds()
    async with asyncio.timeout(10):
        loaves = await asyncio.gather(*(rounds.join(bake, dough) for dough in "abc"), return_exceptions=True)
        assert all(isinstance(error, RuntimeError | ValueError) for error in loaves)
        is_broken = False
        assert await rounds.join(bake, "d") == "loaf of d"


async def test_who_loses_patience_before_the_turn_leaves_no_trace(bakery: Bakery) -> None:
    rounds = Rounds()
    bakery.oven_is_free.clear()
    patient = asyncio.create_task(rounds.join(bakery.bake, "rye"))
    with pytest.raises(TimeoutError):
        await rounds.join(bakery.bake, "oats", patience_seconds=0.01)
    bakery.oven_is_free.set()
    assert await patient == "loaf of rye"
    assert bakery.baked == [["rye"]]


async def test_patience_is_for_the_turn_and_not_for_what_comes_then(bakery: Bakery) -> None:
    bakery.is_done.clear()
    loaf = asyncio.create_task(Rounds().join(bakery.bake, "rye", patience_seconds=0.01))
    await asyncio.sleep(0.05)
    bakery.is_done.set()
    assert await loaf == "loaf of rye"


async def test_who_leaves_before_the_turn_leaves_no_trace(bakery: Bakery) -> None:
    rounds = Rounds()
    bakery.oven_is_free.clear()
    loaves = [asyncio.create_task(rounds.join(bakery.bake, dough)) for dough in "abc"]
    await a_moment()
    loaves[1].cancel()
    await a_moment()
    bakery.oven_is_free.set()
    assert await loaves[0] == "loaf of a"
    assert await loaves[2] == "loaf of c"
    assert bakery.baked == [["a", "c"]]


async def test_who_leaves_after_the_turn_disturbs_nobody(bakery: Bakery) -> None:
    rounds = Rounds()
    bakery.is_done.clear()
    loaves = [asyncio.create_task(rounds.join(bakery.bake, dough)) for dough in "abc"]
    await a_moment()
    loaves[0].cancel()
    await a_moment()
    bakery.is_done.set()
    assert [await loaf for loaf in loaves[1:]] == ["loaf of b", "loaf of c"]
    assert bakery.baked == [["a", "b", "c"]]


async def test_closing_waits_for_what_is_under_way(bakery: Bakery) -> None:
    rounds = Rounds()
    bakery.is_done.clear()
    loaf = asyncio.create_task(rounds.join(bakery.bake, "a"))
    await a_moment()
    loaf.cancel()
    closing = asyncio.create_task(rounds.close())
    await a_moment()
    assert not closing.done()
    bakery.is_done.set()
    await closing


async def test_a_round_is_in_nobodys_context(bakery: Bakery) -> None:
    weather.set("sun")
    rounds = Rounds()
    rounds.start()
    weather.set("rain")
    await rounds.join(bakery.bake, "a")
    assert bakery.weathers == ["sun"]
