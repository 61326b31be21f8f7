"""Starts and ends maintenance on time. Several workers may run this at once."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from uuid import UUID

from monitoring.auth.models import Team
from monitoring.backends.database import transaction
from monitoring.monitors.health import State
from monitoring.monitors.maintenance.covering import cover_monitors, due_at_of, show_maintenance
from monitoring.monitors.maintenance.models import MaintenanceWindow
from monitoring.monitors.models import CheckState

KEEP_INTERVAL_SECONDS = 2.0

TEAMS_AT_ONCE = 100
MONITORS_AT_ONCE = 500

# How long an ended window is kept. Uptimes still count its maintenance after the window is deleted.
RETENTION = timedelta(days=30)


async def keep_maintenance(now: datetime) -> None:
    """Apply windows that begin soon or have ended, and set the status of monitors in maintenance.

    An occurrence that began and ended while no worker was running has no effect, because failures during the
    occurrence have already been announced.
    """
    due = MaintenanceWindow.filter(due_at__lte=now).order_by("due_at").limit(TEAMS_AT_ONCE)
    for team_id in dict.fromkeys(window.team_id for window in await due):
        await _keep_team(team_id, now)
    await _show_begun(now)


async def delete_ended_windows(now: datetime) -> int:
    """Delete windows that ended at least 30 days ago, and return their number."""
    return await MaintenanceWindow.filter(due_at=None, updated_at__lt=now - RETENTION).delete()


async def _keep_team(team_id: UUID, now: datetime) -> None:
    async with transaction():
        await Team.lock(team_id)
        await cover_monitors(team_id, now)
        for window in await MaintenanceWindow.filter(team_id=team_id, due_at__lte=now):
            window.due_at = due_at_of(window, now)
            if window.due_at is None:
                window.updated_at = now
            await window.save(update_fields=("due_at", "updated_at"))


async def _show_begun(now: datetime) -> None:
    begun = CheckState.filter(maintenance_until__gt=now, maintenance_from__lte=now)
    hidden = begun.exclude(monitor__status__in=(State.MAINTENANCE, State.PAUSED))
    found = await hidden.limit(MONITORS_AT_ONCE).values_list("monitor_id", "maintenance_from")
    by_start: dict[datetime, list[UUID]] = defaultdict(list)
    for monitor_id, starts_at in found:
        by_start[starts_at].append(monitor_id)
    for starts_at, monitor_ids in by_start.items():
        await show_maintenance(monitor_ids, starts_at)
