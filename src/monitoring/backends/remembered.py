"""Rows that a process may remember: as long as nobody has announced, through Redis, that they changed."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from monitoring.backends.counters import Counters, Mark

Row = TypeVar("Row")

# How long nobody asks again. Whoever cannot announce a change waits for so long instead.
REMEMBERED_SECONDS = 2.0
MAX_ROWS = 4096


class Remembered:
    """Rows by name, each good as long as requests come with the mark it was read under.

    The mark is that of a hit made before the row is read. So no change between the two is missed; and after
    `forget_everywhere`, no request gets to see what was read before. `is_shared` says whether there may be
    processes with marks beside this one.
    """

    def __init__(
        self, counters: Counters, *, is_shared: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._counters = counters
        self._is_shared = is_shared
        self._clock = clock
        self._rows: dict[str, tuple[Mark, float, Any]] = {}

    async def recall_or_read(
        self, name: str, mark: Mark | None, read: Callable[[], Awaitable[Row | None]]
    ) -> Row | None:
        """Return the row of this name and mark, or read it. What does not exist is read again each time."""
        row: Row | None
        if name in self._rows:
            remembered_mark, good_until, row = self._rows[name]
            if remembered_mark == mark and self._clock() < good_until:
                return row
        good_until = self._clock() + REMEMBERED_SECONDS  # from before it was read: reading may take long
        row = await read()
        if row is not None and mark is not None:
            self._remember(name, (mark, good_until, row))
        return row

    async def forget_everywhere(self) -> None:
        """Let every process read again. When this returns, none remembers what is older."""
        if self._is_shared and not await self._counters.announce():
            await asyncio.sleep(REMEMBERED_SECONDS)

    def _remember(self, name: str, remembered: tuple[Mark, float, Any]) -> None:
        if len(self._rows) >= MAX_ROWS and name not in self._rows:
            self._rows.clear()
        self._rows[name] = remembered
