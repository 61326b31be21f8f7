"""What looking for slow clients costs: one timer, and none without a connection."""

from __future__ import annotations

from typing import Any

from monitoring.web.slow_clients import Watch
from web.stopped_loop import StoppedLoop


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
    loop, watch = StoppedLoop(), Watch(20)
    quick, slow = FakeConnection(loop, watch), FakeConnection(loop, watch, is_slow=True)
    for moment in (5, 10):
        assert len(loop.timers) == 1
        loop.pass_until(moment)
    assert (len(quick.looked_at), len(slow.looked_at)) == (2, 1)


def test_the_timer_ends_with_the_last_connection_and_begins_with_the_next() -> None:
    loop, watch = StoppedLoop(), Watch(20)
    FakeConnection(loop, watch, is_slow=True)
    last = FakeConnection(loop, watch)
    loop.pass_until(5)
    watch.remove(last)
    assert not loop.timers
    FakeConnection(loop, watch)
    assert len(loop.timers) == 1
