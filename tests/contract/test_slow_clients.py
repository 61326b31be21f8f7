"""What looking for slow clients costs: one timer, and none without a connection."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from monitoring.contract.slow_clients import Watch

if TYPE_CHECKING:
    from collections.abc import Callable


class FakeLoop:
    """A loop whose timers run when the test says so."""

    def __init__(self) -> None:
        self.timers: list[FakeLoop.Timer] = []

    def call_later(self, _: float, callback: Callable[..., None], *arguments: object) -> Timer:
        self.timers.append(FakeLoop.Timer(self, partial(callback, *arguments)))
        return self.timers[-1]

    def time(self) -> float:
        return 7.0

    def run_timers(self) -> None:
        due, self.timers = self.timers, []
        for timer in due:
            timer.callback()

    class Timer:
        def __init__(self, loop: FakeLoop, callback: Callable[[], None]) -> None:
            self.loop, self.callback = loop, callback

        def cancel(self) -> None:
            self.loop.timers.remove(self)


class FakeConnection:
    """A connection that ends as soon as it is looked at, if its client is slow."""

    def __init__(self, loop: Any, watch: Watch, *, is_slow: bool = False) -> None:
        self.loop, self.watch, self.is_slow = loop, watch, is_slow
        self.looked_at: list[float] = []
        watch.add(self)

    def end_if_too_slow(self, now: float) -> None:
        self.looked_at.append(now)
        if self.is_slow:
            self.watch.remove(self)


def test_one_timer_looks_at_all_connections_again_and_again() -> None:
    loop, watch = FakeLoop(), Watch(20)
    quick, slow = FakeConnection(loop, watch), FakeConnection(loop, watch, is_slow=True)
    for _ in range(2):
        assert len(loop.timers) == 1
        loop.run_timers()
    assert (len(quick.looked_at), len(slow.looked_at)) == (2, 1)


def test_the_timer_ends_with_the_last_connection_and_begins_with_the_next() -> None:
    loop, watch = FakeLoop(), Watch(20)
    FakeConnection(loop, watch, is_slow=True)
    last = FakeConnection(loop, watch)
    loop.run_timers()
    watch.remove(last)
    assert not loop.timers
    FakeConnection(loop, watch)
    assert len(loop.timers) == 1
