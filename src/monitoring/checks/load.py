"""Measures how busy the event loop of the checks is, because a busy loop distorts response times."""

from __future__ import annotations

import asyncio
import time

from monitoring.metrics import CHECKER_BUSY_RATIO, CHECKER_LAG_SECONDS

MEASURE_SECONDS = 1.0
MAX_BUSY_RATIO = 0.6

# No checks are admitted while the loop is busy, but a few are admitted after this many consecutive refusals.
# Other work, such as the API in embedded mode, may keep the loop busy, and must not stop all checks.
MAX_REFUSALS_IN_A_ROW = 2
TRICKLE = 10


class Load:
    """Measures how busy the event loop's thread was in the last second, and limits how many checks begin."""

    busy_ratio = 0.0
    _refusals = 0

    async def measure(self) -> None:
        """Update `busy_ratio` and the metrics about every second, until cancelled."""
        while True:
            began_at, worked_seconds = time.perf_counter(), time.thread_time()
            await asyncio.sleep(MEASURE_SECONDS)
            elapsed_seconds = time.perf_counter() - began_at
            self.busy_ratio = (time.thread_time() - worked_seconds) / elapsed_seconds
            CHECKER_BUSY_RATIO.set(self.busy_ratio)
            CHECKER_LAG_SECONDS.set(max(0.0, elapsed_seconds - MEASURE_SECONDS))

    def admit(self, count: int) -> int:
        """Return how many of `count` checks may begin. While the loop is busy, this is at most `TRICKLE`."""
        if self.busy_ratio <= MAX_BUSY_RATIO:
            self._refusals = 0
            return count
        self._refusals += 1
        if self._refusals <= MAX_REFUSALS_IN_A_ROW:
            return 0
        self._refusals = 0
        return min(count, TRICKLE)
