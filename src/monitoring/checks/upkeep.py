"""What a worker does for checks by the clock: partitions, honest statuses, rollups, and figures."""

from __future__ import annotations

from datetime import datetime, timedelta

from tortoise.functions import Count, Min

from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.history.queries import ensure_partitions
from monitoring.history.rollups import roll_up
from monitoring.incidents.models import Incident
from monitoring.metrics import CHECKS_OVERDUE_SECONDS, MONITORS, OPEN_INCIDENTS, record_age
from monitoring.monitors.health import GRACE, STATUSES
from monitoring.monitors.models import Monitor, Watch

# Storing makes a partition that is missing, but then every process that stores has to wait for it.
DAYS_AHEAD = timedelta(days=3)

MONITORS_AT_ONCE = 500


async def keep_up(now: datetime) -> None:
    """Do what is due. If nothing is, this costs a few look-ups. Several processes may do it at once."""
    await ensure_partitions(now - timedelta(days=1), now + DAYS_AHEAD)
    await tell_unwatched(now)
    await roll_up(now)


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


async def measure_checks() -> None:
    """Measure lateness, open incidents, and monitors by status. Raises `DatabaseUnavailable`."""
    await measure_lateness()
    await measure_incidents()
    await measure_monitors()


async def measure_lateness() -> None:
    """Find the check that has been due for the longest time."""
    [(due_since,)] = await Watch.annotate(due_since=Min("due_at")).values_list("due_since")
    record_age(CHECKS_OVERDUE_SECONDS, due_since, current_backends().clock.now())


async def measure_incidents() -> None:
    """Count the open incidents of all teams."""
    OPEN_INCIDENTS.set(await Incident.filter(resolved_at=None).count())


async def measure_monitors() -> None:
    """Count the monitors of all teams by status. This reads them all: ten thousand in milliseconds."""
    counted = Monitor.annotate(count=Count("status")).group_by("status").values_list("status", "count")
    counts = dict(await counted)
    for status in STATUSES:
        MONITORS.labels(status).set(counts.get(status, 0))
