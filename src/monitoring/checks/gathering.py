"""Outcomes gather for a moment and are stored together: many in a transaction cost little more than one."""

from __future__ import annotations

import asyncio
import logging
import random
from typing import TYPE_CHECKING

from monitoring.backends.errors import BackendUnavailable, TransactionConflict
from monitoring.checks.storing import store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from monitoring.backends.outage import Outage
    from monitoring.checks.storing import Checked

GATHER_SECONDS = 0.15
MAX_STORED_AT_ONCE = 500
RETRY_SECONDS = 1.0
MAX_CONFLICTS_IN_A_ROW = 20

# With so many in hand the database is too slow, and no more checks should begin.
MAX_GATHERED = 2000

log = logging.getLogger(__name__)


class Gathering:
    """Outcomes that are not stored yet.

    They are kept for as long as the database is away, beyond their leases too: until somebody else claims the
    monitors, they are the newest that is known. One transaction is under way at a time.
    """

    def __init__(self, outage: Outage, now: Callable[[], datetime]) -> None:
        self._outage = outage
        self._now = now
        self._gathered: list[Checked] = []
        self._has_some = asyncio.Event()
        self._is_storing_in_vain = False

    @property
    def room(self) -> int:
        """How many more there should be; none while they cannot be stored."""
        return 0 if self._is_storing_in_vain else MAX_GATHERED - len(self._gathered)

    def add(self, checked: Checked) -> None:
        """Take an outcome, which is stored soon."""
        self._gathered.append(checked)
        self._has_some.set()

    async def store_on_and_on(self) -> None:
        """Store until cancelled."""
        while True:
            await self._has_some.wait()
            self._has_some.clear()
            if len(self._gathered) < MAX_STORED_AT_ONCE:
                await asyncio.sleep(GATHER_SECONDS)
            try:
                await self.store_all()
            except BackendUnavailable as error:
                self._outage.begin(error)
                self._is_storing_in_vain = True
                self._has_some.set()
                await asyncio.sleep(RETRY_SECONDS)
            else:
                self._outage.end()
                self._is_storing_in_vain = False

    async def store_all(self) -> list[Checked]:
        """Store what there is and return it. What cannot be stored now stays. Raises `BackendUnavailable`."""
        stored: list[Checked] = []
        conflict_count = 0
        while batch := self._gathered[:MAX_STORED_AT_ONCE]:
            try:
                await self._store(batch)
            except TransactionConflict:
                conflict_count += 1
                if conflict_count > MAX_CONFLICTS_IN_A_ROW:
                    raise
                await asyncio.sleep(random.uniform(0, GATHER_SECONDS))  # noqa: S311 - lets the other one pass
            else:
                conflict_count = 0
                del self._gathered[: len(batch)]
                stored += batch
        return stored

    async def _store(self, batch: Sequence[Checked]) -> None:
        """Store a batch. What cannot be stored at all is found by halving, and takes no other along."""
        try:
            await store(batch, self._now())
        except BackendUnavailable:
            raise
        except Exception:
            if len(batch) == 1:
                log.exception("A result cannot be stored; its monitor is checked again")
                return
            middle = len(batch) // 2
            await self._store(batch[:middle])
            await self._store(batch[middle:])
