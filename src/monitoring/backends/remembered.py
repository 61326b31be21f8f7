"""Rows that a process may remember: as long as nobody has announced, through Redis, that they changed."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitoring.backends.counters import Counters, Mark

# How long nobody asks again. Whoever cannot announce a change waits for so long instead.
SECONDS = 2.0
MOST = 4096


class Remembered:
    """Rows by name, each good as long as requests come with the mark it was read under.

    The mark is that of a hit made before the row is read. So no change between the two is missed; and after
    `forget_everywhere`, no request gets to see what was read before.
    """

    def __init__(self, counters: Counters, clock: Callable[[], float] = time.monotonic) -> None:
        self._counters = counters
        self._clock = clock
        self._rows: dict[str, tuple[Mark, float, Any]] = {}

    def recall(self, name: str, mark: Mark | None) -> Any | None:  # noqa: ANN401 - whatever was remembered
        """Return the row, or None: it has to be read."""
        remembered = self._rows.get(name)
        if remembered is None:
            return None
        remembered_mark, good_until, row = remembered
        return row if remembered_mark == mark and self._clock() < good_until else None

    def good_until(self) -> float:
        """Say for how long what is read from now on may be remembered."""
        return self._clock() + SECONDS

    def remember(self, name: str, mark: Mark | None, good_until: float, row: object) -> None:
        """Keep a row that was read under this mark. Without one, nothing is kept."""
        if mark is None:
            return
        if len(self._rows) >= MOST:
            self._rows.clear()
        self._rows[name] = mark, good_until, row

    async def forget_everywhere(self) -> None:
        """Let every process read again. When this returns, none remembers what is older."""
        if not await self._counters.announce():
            await asyncio.sleep(SECONDS)
