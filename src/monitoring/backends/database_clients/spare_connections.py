"""Connections that have just come back, for the statement that comes next."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT_SECONDS = 1.0


class SpareConnections:
    """Lends a pool's connections, and keeps those that come back until the next statement takes them.

    A loan by asyncpg's pool takes a task and two timers, a tenth of what reading a monitor does. The pool
    gets all of them back once in `KEPT_SECONDS`, to close those that are old or that nobody uses, and at once
    if somebody waits for one.
    """

    def __init__(self, pool: Any, is_usable: Callable[[Any], bool]) -> None:  # noqa: ANN401 - asyncpg is untyped
        self._pool = pool
        self._is_usable = is_usable
        self._kept: list[Any] = []
        self._waiting = 0
        self._is_closed = False
        self._end_of_keeping: asyncio.TimerHandle | None = None
        self._giving_back: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """Count the connections that are kept."""
        return len(self._kept)

    def take(self) -> Any:  # noqa: ANN401 - as above
        """Return a connection that is kept; None if there is none, or the server has closed it."""
        return self._kept.pop() if self._kept and self._is_usable(self._kept[-1]) else None

    async def borrow(self, timeout_seconds: float) -> Any:  # noqa: ANN401 - as above
        """Return a connection of the pool. Raises `TimeoutError` if none is free in time."""
        self._waiting += 1
        try:
            await self.give_back()
            return await self._pool.acquire(timeout=timeout_seconds)
        finally:
            self._waiting -= 1

    def keep(self, connection: Any) -> bool:  # noqa: ANN401 - as above
        """Keep a connection after a statement that succeeded. False if it has to go back to the pool."""
        if self._waiting or self._is_closed or not self._is_usable(connection):
            return False
        self._kept.append(connection)
        if self._end_of_keeping is None:
            loop = asyncio.get_running_loop()
            self._end_of_keeping = loop.call_later(KEPT_SECONDS, self._end_keeping)
        return True

    async def close(self) -> None:
        """Keep nothing from now on."""
        self._is_closed = True
        await self.give_back()

    async def give_back(self) -> None:
        """Give the pool what is kept."""
        if self._end_of_keeping:
            self._end_of_keeping.cancel()
            self._end_of_keeping = None
        while self._kept:
            await self._pool.release(self._kept.pop())

    def _end_keeping(self) -> None:
        self._giving_back = asyncio.create_task(self.give_back())
