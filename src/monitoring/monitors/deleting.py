"""Deletions that can be undone: monitors are deleted some minutes after the request."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from tortoise.functions import Count, Min

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.service import record_many
from monitoring.backends.database import transaction
from monitoring.backends.fields import uuid7
from monitoring.contract.problems import Problem
from monitoring.monitors.models import Monitor, PendingDeletion
from monitoring.monitors.service import delete_monitor

UNDO_MINUTES = 5
UNDO_TIME = timedelta(minutes=UNDO_MINUTES)

# The most rows that one statement inserts, and the most deletions that one run carries out.
PORTION = 500


class Deletion(NamedTuple):
    """A scheduled deletion, the number of monitors that it deletes, and its time."""

    deletion_id: UUID
    monitors_count: int
    delete_at: datetime


async def schedule_deletion(
    team_id: UUID, monitor_ids: Collection[UUID], now: datetime, *, by: Actor
) -> None:
    """Schedule these monitors to be deleted after `UNDO_TIME`.

    The audit log records each deletion immediately. A monitor that is already scheduled for deletion keeps
    its earlier time.
    """
    deletion_id, delete_at = uuid7(), now + UNDO_TIME
    chosen = list(monitor_ids)
    async with transaction():
        for start in range(0, len(chosen), PORTION):
            found = Monitor.filter(team_id=team_id, id__in=chosen[start : start + PORTION])
            pending = [
                PendingDeletion(
                    monitor_id=monitor_id, team_id=team_id, deletion_id=deletion_id, delete_at=delete_at
                )
                for monitor_id in await found.values_list("id", flat=True)
            ]
            await PendingDeletion.bulk_create(pending, ignore_conflicts=True)
        scheduled = PendingDeletion.filter(team_id=team_id, deletion_id=deletion_id)
        names = dict(await scheduled.values_list("monitor_id", "monitor__name"))
        await record_many(team_id, by, Action.MONITOR_DELETED, names)


async def find_deletion(monitor_id: UUID) -> PendingDeletion | None:
    """Return a monitor's scheduled deletion, or None."""
    return await PendingDeletion.get_or_none(monitor_id=monitor_id)


async def undo_deletion(team_id: UUID, deletion_id: UUID, *, by: Actor) -> Collection[UUID]:
    """Cancel a deletion for those of its monitors that still exist, and return their ids."""
    async with transaction():
        pending = PendingDeletion.filter(team_id=team_id, deletion_id=deletion_id)
        kept = dict(await pending.select_for_update().values_list("monitor_id", "monitor__name"))
        await PendingDeletion.filter(team_id=team_id, deletion_id=deletion_id).delete()
        await record_many(team_id, by, Action.MONITOR_KEPT, kept)
    return kept.keys()


async def list_deletions(team_id: UUID) -> list[Deletion]:
    """Return a team's deletions that can still be undone, newest first."""
    rows = (
        await PendingDeletion.filter(team_id=team_id)
        .annotate(count=Count("id"), at=Min("delete_at"))
        .group_by("deletion_id")
        .values_list("deletion_id", "count", "at")
    )
    deletions = [Deletion(deletion_id, count, delete_at) for deletion_id, count, delete_at in rows]
    return sorted(deletions, key=lambda deletion: deletion.deletion_id, reverse=True)


async def carry_out_deletions(now: datetime) -> int:
    """Delete monitors whose undo time is over, one per transaction, and return their number.

    Several workers may run this at once. If a run is interrupted, the next run deletes the remaining
    monitors.
    """
    count = 0
    due = PendingDeletion.filter(delete_at__lte=now).order_by("delete_at")
    for pending in await due.limit(PORTION):
        count += await _carry_out(pending)
    return count


async def _carry_out(pending: PendingDeletion) -> bool:
    async with transaction():
        # A locked row is skipped, because another process is undoing or carrying out this deletion.
        held = PendingDeletion.filter(id=pending.id).select_for_update(skip_locked=True)
        if not await held.exists():
            return False
        try:
            await delete_monitor(pending.team_id, pending.monitor_id)
        except Problem:  # the monitor was deleted meanwhile
            return False
        return True
