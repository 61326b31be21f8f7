"""Finds monitors that were not checked for too long: their status must not keep saying what was seen last."""

from __future__ import annotations

from datetime import datetime

from monitoring.backends.database import transaction
from monitoring.monitors.health import GRACE
from monitoring.monitors.models import Monitor, Watch

MONITORS_AT_ONCE = 500


async def tell_unwatched(now: datetime) -> int:
    """Set the status of monitors whose last check is too old to `unknown`, and return how many there were.

    Their time counts as unknown in any case. The next check gives them another status.
    """
    overdue = Watch.filter(due_at__lt=now - GRACE, seen_until__lt=now).exclude(
        monitor__status__in=("unknown", "maintenance")
    )
    count = 0
    while True:
        async with transaction():
            locked = overdue.select_for_update(skip_locked=True, of=("watches",)).order_by("due_at")
            watches = await locked.limit(MONITORS_AT_ONCE).only("monitor_id", "seen_until")
            for watch in watches:
                await Monitor.filter(id=watch.monitor_id).update(
                    status="unknown", status_changed_at=watch.seen_until
                )
        count += len(watches)
        if len(watches) < MONITORS_AT_ONCE:
            return count
