"""What looking for slow clients costs: one timer, and none without a connection."""

from __future__ import annotations

from typing import Any

from monitoring.web.connection_limits import SlowClients
from web.stopped_loop import StoppedLoop


class FakeConnection:
    """A connection that ends as soon as it is looked at, if its client is slow."""

    def __init__(self, loop: Any, slow_clients: SlowClients, *, is_slow: bool = False) -> None:
        self.loop, self.slow_clients, self.is_slow = loop, slow_clients, is_slow
        self.looked_at: list[float] = []
        slow_clients.add(self)

    def end_if_too_slow(self, now: float) -> None:
        self.looked_at.append(now)
        if self.is_slow:
            self.slow_clients.remove(self)


def test_one_timer_looks_at_all_connections_again_and_again() -> None:
    loop, slow_clients = StoppedLoop(), SlowClients(20)
    quick, slow = FakeConnection(loop, slow_clients), FakeConnection(loop, slow_clients, is_slow=True)
    for moment in (5, 10):
        assert len(loop.timers) == 1
        loop.pass_until(moment)
    assert (len(quick.looked_at), len(slow.looked_at)) == (2, 1)


def test_the_timer_ends_with_the_last_connection_and_begins_with_the_next() -> None:
    loop, slow_clients = StoppedLoop(), SlowClients(20)
    FakeConnection(loop, slow_clients, is_slow=True)
    last = FakeConnection(loop, slow_clients)
    loop.pass_until(5)
    slow_clients.remove(last)
    assert not loop.timers
    FakeConnection(loop, slow_clients)
    assert len(loop.timers) == 1
