"""Looks again and again which clients are too slow. One timer serves all connections of a server."""

from __future__ import annotations

import asyncio
from typing import Protocol

LOOKS_IN_A_TIMEOUT = 4


class Connection(Protocol):
    """A connection that is looked at."""

    loop: asyncio.AbstractEventLoop

    def end_if_too_slow(self, now: float) -> None:
        """Close the connection if its client has used up its time."""


class Watch:
    """The connections of a server. There is no timer while there are none."""

    def __init__(self, timeout_seconds: float) -> None:
        self._pause_seconds = timeout_seconds / LOOKS_IN_A_TIMEOUT
        self._connections: set[Connection] = set()
        self._next_look: asyncio.TimerHandle | None = None

    def add(self, connection: Connection) -> None:
        """Look at a connection from now on."""
        self._connections.add(connection)
        if self._next_look is None:
            self._look_later(connection.loop)

    def remove(self, connection: Connection) -> None:
        """Look at a connection no more."""
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
