"""Batches work: what many callers request at the same time is done in rounds."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypeVar

from monitoring.tracing import Carrier, carry, link, span

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

# What a round does. It calls `take` once, when its turn has come, and returns an outcome for each item it
# gets, in their order. An outcome that is an exception is raised in that item's caller.
Take: TypeAlias = "Callable[[], Sequence[Item]]"
Work: TypeAlias = "Callable[[Take[Item]], Awaitable[Sequence[Outcome | Exception]]]"

# Limits of a round, so that its callers do not wait long for each other, and it does not fill the memory.
MAX_ITEMS = 32
MAX_BYTES = 4 * 2**20


class Rounds:
    """Rounds of several kinds of work. Of each kind at most one waits for its turn; new callers join it.

    There is no timer: a caller who comes alone gets a round alone, at once.
    """

    def __init__(self) -> None:
        self._lines: dict[Work[Any, Any], _Line] = {}
        self._under_way: set[asyncio.Task[None]] = set()
        self.start()

    def start(self) -> None:
        """Run every round in a copy of this caller's context, since a round belongs to no single request."""
        self._context = copy_context()

    async def join(
        self,
        work: Work[Item, Outcome],
        item: Item,
        size_bytes: int = 0,
        patience_seconds: float | None = None,
    ) -> Outcome:
        """Have the work done for an item, and return or raise its outcome.

        If a caller is cancelled before a round takes its item, the item is dropped; afterwards the round goes
        on with all its items. Raises `TimeoutError` if no round takes the item within `patience_seconds`.
        """
        place: _Place = _Place(item, size_bytes)
        if patience_seconds is not None:
            place.give_up_after(patience_seconds)
        line = self._lines.setdefault(work, _Line())
        line.waiting.append(place)
        if not line.has_round:
            self._begin(work, line)
        outcome: Outcome = await place.outcome
        return outcome

    async def close(self) -> None:
        """Wait until all rounds have ended; their callers may have gone."""
        while self._under_way:
            await asyncio.wait(self._under_way)

    def _begin(self, work: Work[Any, Any], line: _Line) -> None:
        line.has_round = True
        running = asyncio.get_running_loop().create_task(self._run(work, line), context=self._context.copy())
        self._under_way.add(running)
        running.add_done_callback(self._under_way.discard)

    async def _run(self, work: Work[Any, Any], line: _Line) -> None:
        round_ = _Round(line, partial(self._begin, work, line))
        first = line.waiting[0].trace if line.waiting else {}
        try:
            with span("round", parent=first):
                round_.settle(await work(round_.take))
        except BaseException as error:
            round_.fail(error)
            if not isinstance(error, Exception):
                raise


@dataclass(slots=True)
class _Place:
    """An item in the line, and what its caller waits for."""

    item: Any
    size_bytes: int
    outcome: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    trace: Carrier = field(default_factory=carry)
    _giving_up: asyncio.TimerHandle | None = None

    def give_up_after(self, seconds: float) -> None:
        self._giving_up = asyncio.get_running_loop().call_later(seconds, self.settle, TimeoutError())

    def take(self) -> bool:
        """End the caller's wait for a round. False if the caller has gone."""
        if self._giving_up:
            self._giving_up.cancel()
        return not self.outcome.done()

    def settle(self, outcome: object) -> None:
        if self.outcome.done():  # the caller has gone
            return
        if isinstance(outcome, BaseException):
            self.outcome.set_exception(outcome)
        else:
            self.outcome.set_result(outcome)


@dataclass(slots=True)
class _Line:
    """The items for the next round of one kind of work, and whether that round is waiting for its turn."""

    waiting: deque[_Place] = field(default_factory=deque)
    has_round: bool = False

    def take(self) -> list[_Place]:
        """Take as many items as fit into a round, at least one. Items whose callers have gone are dropped."""
        self.has_round = False
        places: list[_Place] = []
        size_bytes = 0
        while self.waiting and len(places) < MAX_ITEMS:
            size_bytes += self.waiting[0].size_bytes
            if places and size_bytes > MAX_BYTES:
                break
            place = self.waiting.popleft()
            if place.take():
                places.append(place)
        return places


class _Round:
    """The items that were taken out of the line together."""

    def __init__(self, line: _Line, begin_next: Callable[[], None]) -> None:
        self._line = line
        self._begin_next = begin_next
        self._places: list[_Place] | None = None

    def take(self) -> list[Any]:
        """Take the items. Called once, when the round's turn has come."""
        if self._places is not None:
            raise RuntimeError("a round takes its items once")
        self._places = self._line.take()
        if self._line.waiting:
            self._begin_next()
        for place in self._places:
            link(place.trace)
        return [place.item for place in self._places]

    def settle(self, outcomes: Sequence[object]) -> None:
        """Give each caller its outcome. Raises unless there are as many outcomes as items."""
        if self._places is None:
            raise RuntimeError("a round takes its items")
        for place, outcome in zip(self._places, outcomes, strict=True):
            place.settle(outcome)

    def fail(self, error: BaseException) -> None:
        """Give the error to all callers without an outcome. A round that fails early takes items first."""
        if self._places is None:
            self.take()
        for place in self._places or ():
            place.settle(error)
