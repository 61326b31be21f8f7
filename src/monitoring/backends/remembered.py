"""Rows that a process may remember, until a process announces through Redis that they changed."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from monitoring.backends.counters import Counters, Mark

Row = TypeVar("Row")

# How long a row is not read again. A process that cannot announce a change waits this long instead.
REMEMBERED_SECONDS = 2.0
MAX_ROWS = 4096


class Remembered:
    """Rows by name, each good as long as requests come with the mark it was read under.

    A request gets its mark from a hit, before the row is read: so no change between the two is missed. After
    `forget_everywhere`, no request sees what was read before. If `remembers` is false, every row is read each
    time, and there is nothing to forget.
    """

    def __init__(
        self, counters: Counters, *, remembers: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._counters = counters
        self._remembers = remembers
        self._clock = clock
        self._rows: dict[str, tuple[Mark, float, Any]] = {}

    async def recall_or_read(
        self, name: str, mark: Mark | None, read: Callable[[], Awaitable[Row | None]]
    ) -> Row | None:
        """Return the row of this name and mark, or read it. A row that does not exist is read every time."""
        row: Row | None
        if name in self._rows:
            remembered_mark, good_until, row = self._rows[name]
            if remembered_mark == mark and self._clock() < good_until:
                return row
        good_until = self._clock() + REMEMBERED_SECONDS  # from before the reading, which may take long
        row = await read()
        if row is not None and mark is not None and self._remembers:
            self._remember(name, (mark, good_until, row))
        return row

    async def forget_everywhere(self) -> None:
        """Make every process read again. When this returns, no process uses an older row."""
        if self._remembers and not await self._counters.announce():
            await asyncio.sleep(REMEMBERED_SECONDS)

    def _remember(self, name: str, remembered: tuple[Mark, float, Any]) -> None:
        if len(self._rows) >= MAX_ROWS and name not in self._rows:
            self._rows.clear()
        self._rows[name] = remembered
