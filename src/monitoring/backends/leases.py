"""Database rows as jobs. A worker claims a row for a limited time, its lease.

Such a table has the columns `attempts`, `due_at` and `claim`. A worker that claims a row sets `due_at` to the
end of its lease, so that one condition finds both due rows and rows whose worker died. For some tables, a
sweep sends a message for each row that still needs one. These tables also have `nudged_at`, the time when a
message for the row was last sent. All times are from the shared clock (`backends/clock.py`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID, uuid4

from tortoise.expressions import F, Q
from tortoise.models import Model
from tortoise.queryset import QuerySet

from monitoring.backends.clock import TOLERANCE
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.errors import DatabaseUnavailable
from monitoring.backends.outage import note_delay
from monitoring.backends.tasks import Task

HEARTBEATS_A_LEASE = 3

# After this time, an unhandled message counts as lost. A duplicate message costs only one query.
NUDGE_INTERVAL = timedelta(seconds=30)

log = logging.getLogger(__name__)

Row = TypeVar("Row", bound=Model)


def is_due(now: datetime, longest: timedelta) -> Q:
    """Match rows that a worker may claim, because they are due or their worker's lease has expired.

    `longest` is the longest time that a row of the table may wait. Rows whose `due_at` is even further in the
    future match too, because only a clock that was ahead can have written that time.
    """
    return Q(due_at__lte=now) | Q(due_at__gt=now + longest + TOLERANCE)


def is_idle(now: datetime) -> Q:
    """Match rows for which no message was sent in the last NUDGE_INTERVAL.

    Rows whose `nudged_at` is in the future match too, because a clock that was ahead wrote that time.
    """
    return Q(nudged_at=None) | Q(nudged_at__lte=now - NUDGE_INTERVAL) | Q(nudged_at__gt=now + TOLERANCE)


@dataclass(frozen=True, slots=True)
class Claim(Generic[Row]):
    """The exclusive right to process a row until its lease expires. `row.attempts` includes this attempt."""

    # Additional column values to set when the row is released without counting the attempt.
    when_given_back: ClassVar[Mapping[str, object]] = {}

    claim_id: UUID
    row: Row

    def held_row(self) -> QuerySet[Row]:
        """Match the row if this claim still holds it."""
        return type(self.row).filter(pk=self.row.pk, claim=self.claim_id)

    async def end(self, **result: object) -> bool:
        """Store the result and release the row. Returns False if the claim was lost."""
        return bool(await self.held_row().update(claim=None, **result))

    async def give_back(self, **changes: object) -> None:
        """Release the row without counting the attempt. The row is due now unless `changes` sets `due_at`."""
        await _give_back(self.held_row(), {**self.when_given_back, **changes})

    @asynccontextmanager
    async def renewed(self, lease: timedelta) -> AsyncIterator[None]:
        """Renew the lease while the block runs."""
        renewing = asyncio.create_task(self._renew(lease))
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.wait([renewing])

    async def _renew(self, lease: timedelta) -> None:
        while True:
            await asyncio.sleep(lease.total_seconds() / HEARTBEATS_A_LEASE)
            try:
                await self.held_row().update(due_at=current_backends().clock.now() + lease)
            except DatabaseUnavailable as error:
                note_delay("Renewing a lease", error)

    @classmethod
    @asynccontextmanager
    async def beginning(cls, candidates: QuerySet[Row]) -> AsyncIterator[UUID]:
        """Yield a new claim id, with which the block claims one of the candidates.

        If the block is cancelled, its commit may still have succeeded, so a claimed row is released.
        """
        claim_id = uuid4()
        try:
            yield claim_id
        except asyncio.CancelledError:
            await _give_back(candidates.filter(claim=claim_id), cls.when_given_back)
            raise


async def begin_attempt(row: Any, claim_id: UUID, lease_ends_at: datetime) -> None:  # noqa: ANN401 - a model with these columns
    """Claim a row, count the attempt, and save the row. The caller must have locked the row."""
    row.attempts += 1
    row.due_at, row.claim = lease_ends_at, claim_id
    await row.save()


async def sweep_idle(task: Task, find_idle: Callable[[datetime], Awaitable[QuerySet[Any]]], most: int) -> int:
    """Send a task message for each of up to `most` idle rows. Returns the number of messages sent.

    Sends nothing while the queue is unavailable or already holds `most` messages. Otherwise workers slower
    than the sweep would never catch up.
    """
    if await task.has_enough_messages(most):
        return 0
    now = current_backends().clock.now()
    async with transaction():
        idle = await find_idle(now)
        row_ids = await take_idle(idle.limit(most), now)
    for row_id in row_ids:
        await task.send(str(row_id))
    return len(row_ids)


async def take_idle(idle: QuerySet[Any], now: datetime, **changes: object) -> list[UUID]:
    """Set `nudged_at` of idle rows to `now` in the caller's transaction, and return the rows' ids.

    `changes` are further column values to set. Concurrent callers get different rows.
    """
    locked = idle.select_for_update(skip_locked=True).only("id")
    row_ids = [row.pk for row in await locked]
    if row_ids:
        await idle.model.filter(id__in=row_ids).update(nudged_at=now, **changes)
    return row_ids


async def _give_back(held: QuerySet[Any], changes: Mapping[str, object]) -> None:
    """Release the row, even if the task is cancelled again by its task group or by a closing event loop."""
    as_before = {"attempts": F("attempts") - 1, "due_at": current_backends().clock.now(), "claim": None}
    update = asyncio.ensure_future(held.update(**{**as_before, **changes}))
    cancelled = None
    while not update.done():
        try:
            await asyncio.wait([update])
        except asyncio.CancelledError as error:
            cancelled = error
    update.result()
    if cancelled:
        raise cancelled
