"""Buffers results briefly, because storing many results together takes little more time than storing one."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from datetime import datetime

from monitoring.backends.errors import BackendUnavailable, TransactionConflict
from monitoring.backends.outage import note_delay
from monitoring.checks.storing import Checked, store
from monitoring.tracing import span

GATHER_SECONDS = 0.15
MAX_STORED_AT_ONCE = 500
RETRY_SECONDS = 1.0
MAX_CONFLICTS_IN_A_ROW = 20

# If this many checks are buffered, the database is too slow, and no more checks should begin.
MAX_GATHERED = 2000

log = logging.getLogger(__name__)


class ResultBuffer:
    """The checks whose findings are not stored yet.

    The checks are kept while the database is unavailable, even after their leases have ended. Their findings
    can still be stored, unless another checker has claimed the monitors. Only one transaction is open at a
    time.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._gathered: list[Checked] = []
        self._has_some = asyncio.Event()
        self._is_storing_in_vain = False

    @property
    def free(self) -> int:
        """How many more checks fit: 0 while storing fails."""
        return 0 if self._is_storing_in_vain else MAX_GATHERED - len(self._gathered)

    def add(self, checked: Checked) -> None:
        """Add a check, which will be stored soon."""
        self._gathered.append(checked)
        self._has_some.set()

    async def store_on_and_on(self) -> None:
        """Store added checks until cancelled."""
        while True:
            await self._has_some.wait()
            self._has_some.clear()
            if len(self._gathered) < MAX_STORED_AT_ONCE:
                await asyncio.sleep(GATHER_SECONDS)
            try:
                await self.store_all()
            except BackendUnavailable as error:
                note_delay("Storing checks", error)
                self._is_storing_in_vain = True
                self._has_some.set()
                await asyncio.sleep(RETRY_SECONDS)
            else:
                self._is_storing_in_vain = False

    async def store_all(self) -> list[Checked]:
        """Store all buffered checks and return them. If storing fails, the checks not stored stay buffered.

        Raises `BackendUnavailable`.
        """
        stored: list[Checked] = []
        conflict_count = 0
        while batch := self._gathered[:MAX_STORED_AT_ONCE]:
            try:
                await self._store(batch)
            except TransactionConflict:
                conflict_count += 1
                if conflict_count > MAX_CONFLICTS_IN_A_ROW:
                    raise
                await asyncio.sleep(random.uniform(0, GATHER_SECONDS))  # noqa: S311 - lets the other transaction finish
            else:
                conflict_count = 0
                del self._gathered[: len(batch)]
                stored += batch
        return stored

    async def _store(self, batch: Sequence[Checked]) -> None:
        """Store a batch. If this fails, store each half separately, and so on.

        In the end, only the checks that cannot be stored are left out.
        """
        try:
            with span("store checks", attributes={"monitoring.checks": len(batch)}):
                await store(batch, self._now())
        except BackendUnavailable:
            raise
        except Exception:
            if len(batch) == 1:
                log.exception("The result of a check cannot be stored; the monitor will be checked again")
                return
            middle = len(batch) // 2
            await self._store(batch[:middle])
            await self._store(batch[middle:])
