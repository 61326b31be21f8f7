"""Monitors nobody has looked at for too long: their status must not go on saying what was seen last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.backends.database import transaction
from monitoring.monitors.health import GRACE
from monitoring.monitors.models import Monitor, Watch

if TYPE_CHECKING:
    from datetime import datetime

MONITORS_AT_ONCE = 500


async def tell_unwatched(now: datetime) -> int:
    """Give monitors whose last check no longer vouches the status `unknown`, and return how many they were.

    Their time counts as unknown from then on in any case. The next check gives them another status.
    """
    overdue = Watch.filter(due_at__lt=now - GRACE, seen_until__lt=now).exclude(monitor__status="unknown")
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
