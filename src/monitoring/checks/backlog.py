"""Measures the monitors by status, how late their checks are, and open incidents, from the database."""

from __future__ import annotations

from tortoise.functions import Count, Min

from monitoring.backends.current import current_backends
from monitoring.incidents.models import Incident
from monitoring.metrics import CHECKS_OVERDUE_SECONDS, MONITORS, OPEN_INCIDENTS, record_age
from monitoring.monitors.health import STATUSES
from monitoring.monitors.models import Monitor, Watch


async def measure_checks() -> None:
    """Measure all of it. Raises `DatabaseUnavailable`."""
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
