"""Limits on a process's connections, and timeouts for slow clients."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Protocol

from monitoring.web.caller_networks import network_of

# The maximum number of pipelined requests waiting on a connection. Browsers and SDKs do not pipeline.
MAX_PIPELINED = 16

# The maximum number of requests on one connection. The limit spreads load over several server processes,
# because a new connection can go to another process. Without the limit, a busy proxy would never close its
# connections, even if one process had accepted all of them.
MAX_REQUESTS = 100

# The number of transferred bytes that extends a client's timeout by one second. A reverse proxy is faster by
# orders of magnitude.
SLOWEST_BYTES_A_SECOND = 4096

LOOKS_IN_A_TIMEOUT = 4


@dataclass(eq=False)
class ConnectionLimits:
    """Counts and limits a process's connections.

    `trusted_proxies` are exempt from the limit per network. A client has `timeout_seconds` for a request's
    head, and again for sending its body and reading the reply. Transferred bytes extend both times. Between
    requests, a connection may be idle for `keep_alive_seconds`.
    """

    at_once: int = 10_000
    per_network: int = 10_000
    timeout_seconds: float = 20.0
    keep_alive_seconds: int = 75
    trusted_proxies: Sequence[str] = ()
    _total: int = 0
    _open: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._exempt = [ip_network(proxy, strict=False) for proxy in self.trusted_proxies]

    def admit(self, address: str) -> bool:
        """Count a new connection. Returns False if a limit is already reached."""
        network = network_of(address)
        if self._total >= self.at_once:
            return False
        if self._open[network] >= self.per_network and not self._is_exempt(address):
            return False
        self._open[network] += 1
        self._total += 1
        return True

    def release(self, address: str) -> None:
        """Stop counting an admitted connection that has closed."""
        network = network_of(address)
        self._open[network] -= 1
        self._total -= 1
        if not self._open[network]:
            del self._open[network]

    def _is_exempt(self, address: str) -> bool:
        return any(ip_address(address) in network for network in self._exempt)


class Pace:
    """A client's transfer timeout, which is `timeout_seconds` plus time for every transferred byte."""

    def __init__(self, timeout_seconds: float, now: float) -> None:
        self._timeout_seconds = timeout_seconds
        self.restart(now)

    def restart(self, now: float) -> None:
        """Restart the timeout at `now`, with a byte count of zero."""
        self._began, self._moved = now, 0

    def move(self, count: int) -> None:
        """Count bytes that the client has sent or read."""
        self._moved += count

    def is_too_slow(self, now: float) -> bool:
        """Return whether the client has exceeded its timeout."""
        return now - self._began > self._timeout_seconds + self._moved / SLOWEST_BYTES_A_SECOND


class Connection(Protocol):
    """A connection that `SlowClients` checks."""

    loop: asyncio.AbstractEventLoop

    def end_if_too_slow(self, now: float) -> None:
        """Close the connection if its client has exceeded its timeout."""


class SlowClients:
    """Checks for slow clients periodically, with one timer for all of a server's connections."""

    def __init__(self, timeout_seconds: float) -> None:
        self._pause_seconds = timeout_seconds / LOOKS_IN_A_TIMEOUT
        self._connections: set[Connection] = set()
        self._next_look: asyncio.TimerHandle | None = None

    def add(self, connection: Connection) -> None:
        """Start checking a connection."""
        self._connections.add(connection)
        if self._next_look is None:
            self._look_later(connection.loop)

    def remove(self, connection: Connection) -> None:
        """Stop checking a connection."""
        self._connections.remove(connection)
        if self._next_look and not self._connections:
            self._next_look.cancel()
            self._next_look = None

    def _look_later(self, loop: asyncio.AbstractEventLoop) -> None:
        self._next_look = loop.call_later(self._pause_seconds, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._look_later(loop)
        now = loop.time()
        for connection in tuple(self._connections):
            connection.end_if_too_slow(now)
