"""A shared-exclusive lock. Each holder chooses the mode just before it acquires the lock."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager


class SharedExclusiveLock:
    """A lock that many holders may share, or that one holder has exclusively.

    A waiting exclusive holder blocks later shared holders.
    """

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._holders = self._waiting_for_exclusive = 0
        self._is_exclusive = False

    @asynccontextmanager
    async def hold(self, needs_exclusive: Callable[[], Awaitable[bool]]) -> AsyncIterator[None]:
        """Acquire the lock, and hold it in this context.

        `needs_exclusive` returns whether to hold the lock exclusively. It is called again after each wait.
        While it runs, nobody else can acquire the lock.
        """
        async with self._changed:
            while not self._is_free(exclusive=(is_exclusive := await needs_exclusive())):
                await self._wait(exclusive=is_exclusive)
            self._holders += 1
            self._is_exclusive = is_exclusive
        try:
            yield
        finally:
            self._holders -= 1
            self._is_exclusive = False
            async with self._changed:
                self._changed.notify_all()

    def _is_free(self, *, exclusive: bool) -> bool:
        if exclusive:
            return not self._holders
        return not self._is_exclusive and not self._waiting_for_exclusive

    async def _wait(self, *, exclusive: bool) -> None:
        self._waiting_for_exclusive += exclusive
        try:
            await self._changed.wait()
        finally:
            self._waiting_for_exclusive -= exclusive
