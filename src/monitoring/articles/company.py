"""Who may be worked on at the same time in one process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
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
    async def join(self, needs_to_be_alone: Callable[[], Awaitable[bool]]) -> AsyncIterator[None]:
        """Wait until the work may begin, and keep others away meanwhile if it is to be alone.

        The question is asked again after each wait. Nobody else joins before the answer.
        """
        async with self._changed:
            while not self._has_room(alone=(is_alone := await needs_to_be_alone())):
                await self._wait(alone=is_alone)
            self._working += 1
            self._is_alone = is_alone
        try:
            yield
        finally:
            self._working -= 1
            self._is_alone = False
            async with self._changed:
                self._changed.notify_all()

    def _has_room(self, *, alone: bool) -> bool:
        return not self._working if alone else not self._is_alone and not self._waiting_alone

    async def _wait(self, *, alone: bool) -> None:
        self._waiting_alone += alone
        try:
            await self._changed.wait()
        finally:
            self._waiting_alone -= alone
