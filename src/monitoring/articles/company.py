"""Who may be worked on at the same time in one process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Company:
    """Lets work go on together, but for work that wants to be alone: it waits for all other, and holds it up.

    If such work kills the process, it harms no other.
    """

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._working = self._waiting_alone = 0
        self._is_alone = False

    @asynccontextmanager
    async def join(self, *, alone: bool) -> AsyncIterator[None]:
        """Wait until the work may begin, and keep others away meanwhile if it is to be alone."""
        async with self._changed:
            await (self._wait_alone() if alone else self._changed.wait_for(self._is_open))
            self._working += 1
            self._is_alone = alone
        try:
            yield
        finally:
            self._working -= 1
            self._is_alone = False
            async with self._changed:
                self._changed.notify_all()

    async def _wait_alone(self) -> None:
        self._waiting_alone += 1
        try:
            await self._changed.wait_for(lambda: not self._working)
        finally:
            self._waiting_alone -= 1

    def _is_open(self) -> bool:
        return not self._is_alone and not self._waiting_alone
