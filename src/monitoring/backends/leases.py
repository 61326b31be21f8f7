"""Rows that are jobs: a worker claims one for a while, and a sweep finds those that no message asks for.

Such a table has the columns `attempts`, `due_at` and `claim`. A worker that claims a row moves `due_at` to
the end of its lease, so that one condition finds rows whose time has come and rows whose worker died. The
table that is swept also has `nudged_at`: when somebody last sent a message for the row. Processes write and
compare these by the clock that they share (`backends/clock.py`).
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

# A message that nobody has worked on for this long counts as lost. One message too many costs one query.
NUDGE_INTERVAL = timedelta(seconds=30)

log = logging.getLogger(__name__)

Row = TypeVar("Row", bound=Model)


def is_due(now: datetime, longest: timedelta) -> Q:
    """Match rows that a worker may claim: their time has come, or the lease of their worker has ended.

    So have those that lie further ahead than `longest`, which is how far the table's rows may lie: a clock
    that was ahead has put them there.
    """
    return Q(due_at__lte=now) | Q(due_at__gt=now + longest + TOLERANCE)


def is_idle(now: datetime) -> Q:
    """Match rows that nobody sent a message for lately, unless by a clock that was ahead."""
    return Q(nudged_at=None) | Q(nudged_at__lte=now - NUDGE_INTERVAL) | Q(nudged_at__gt=now + TOLERANCE)


@dataclass(frozen=True, slots=True)
class Claim(Generic[Row]):
    """The right to work on a row until the lease ends. The row's attempts include the one that begins."""

    # What else a row becomes that is given back.
    when_given_back: ClassVar[Mapping[str, object]] = {}

    claim_id: UUID
    row: Row

    def held_row(self) -> QuerySet[Row]:
        """Find the row as long as this claim holds it."""
        return type(self.row).filter(pk=self.row.pk, claim=self.claim_id)

    async def end(self, **result: object) -> bool:
        """Store what came of the attempt and let the row go, unless the claim was lost. Returns whether."""
        return bool(await self.held_row().update(claim=None, **result))

    async def give_back(self, **changes: object) -> None:
        """Let the row go as if the attempt had never begun: due at once, unless the changes say when."""
        await _give_back(self.held_row(), {**self.when_given_back, **changes})

    @asynccontextmanager
    async def renewed(self, lease: timedelta) -> AsyncIterator[None]:
        """Renew the lease for as long as the work inside takes."""
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
        """Yield the id of a new claim on one of the candidates.

        If the work inside is cancelled, the row is given back: the commit may have gone through.
        """
        claim_id = uuid4()
        try:
            yield claim_id
        except asyncio.CancelledError:
            await _give_back(candidates.filter(claim=claim_id), cls.when_given_back)
            raise


async def begin_attempt(row: Any, claim_id: UUID, lease_ends_at: datetime) -> None:  # noqa: ANN401 - such a row
    """Claim a row that the caller has locked, count the attempt, and save the row."""
    row.attempts += 1
    row.due_at, row.claim = lease_ends_at, claim_id
    await row.save()


async def sweep_idle(task: Task, find_idle: Callable[[datetime], Awaitable[QuerySet[Any]]], most: int) -> int:
    """Send the task a message for each of up to `most` idle rows. Returns how many it sent.

    Sends nothing while the queue is away or holds `most` messages already: workers that are slower than the
    sweep would never catch up.
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
    """Note in the caller's transaction that messages go out for these rows, and return their ids.

    When several callers choose at once, each gets rows of its own.
    """
    locked = idle.select_for_update(skip_locked=True).only("id")
    row_ids = [row.pk for row in await locked]
    if row_ids:
        await idle.model.filter(id__in=row_ids).update(nudged_at=now, **changes)
    return row_ids


async def _give_back(held: QuerySet[Any], changes: Mapping[str, object]) -> None:
    """Write the row as before, even if the task is cancelled again: by its group, by a loop that closes."""
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
