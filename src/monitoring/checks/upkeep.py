"""A worker's scheduled tasks for checks: partitions, outdated statuses, rollups and metrics."""

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
from monitoring.monitors.models import CheckState, Monitor

# How far ahead partitions are created. Storing a result would also create a missing partition, but all
# processes that store results would have to wait for this.
DAYS_AHEAD = timedelta(days=3)

MONITORS_AT_ONCE = 500


async def keep_up(now: datetime) -> None:
    """Create missing partitions, set outdated statuses to `unknown`, and roll up results, where due.

    If nothing is due, this takes a few queries. Several processes may run this at the same time.
    """
    await ensure_partitions(now - timedelta(days=1), now + DAYS_AHEAD)
    await tell_unwatched(now)
    await roll_up(now)


async def tell_unwatched(now: datetime) -> int:
    """Set the status of monitors whose last check is too old to `unknown`, and return their number.

    Only the status changes. Uptimes already count the time after `seen_until` as unknown. The next check sets
    the status again.
    """
    overdue = CheckState.filter(due_at__lt=now - GRACE, seen_until__lt=now).exclude(
        monitor__status__in=("unknown", "maintenance")
    )
    count = 0
    while True:
        async with transaction():
            locked = overdue.select_for_update(skip_locked=True, of=("watches",)).order_by("due_at")
            check_states = await locked.limit(MONITORS_AT_ONCE).only("monitor_id", "seen_until")
            for check_state in check_states:
                await Monitor.filter(id=check_state.monitor_id).update(
                    status="unknown", status_changed_at=check_state.seen_until
                )
        count += len(check_states)
        if len(check_states) < MONITORS_AT_ONCE:
            return count


async def measure_checks() -> None:
    """Update the metrics of overdue checks, open incidents and monitors. Raises `DatabaseUnavailable`."""
    await measure_lateness()
    await measure_incidents()
    await measure_monitors()


async def measure_lateness() -> None:
    """Update the metric of how long the most overdue check has been overdue."""
    [(due_since,)] = await CheckState.annotate(due_since=Min("due_at")).values_list("due_since")
    record_age(CHECKS_OVERDUE_SECONDS, due_since, current_backends().clock.now())


async def measure_incidents() -> None:
    """Update the metric of open incidents, which counts those of all teams."""
    OPEN_INCIDENTS.set(await Incident.filter(resolved_at=None).count())


async def measure_monitors() -> None:
    """Update the metric of all teams' monitors by status. Reading 10,000 monitors takes milliseconds."""
    counted = Monitor.annotate(count=Count("status")).group_by("status").values_list("status", "count")
    counts = dict(await counted)
    for status in STATUSES:
        MONITORS.labels(status).set(counts.get(status, 0))
