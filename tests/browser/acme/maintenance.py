"""Acme's maintenance: under way, every week, and over."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from monitoring.monitors.maintenance.models import MaintenanceSpan, MaintenanceWindow
from monitoring.monitors.maintenance.service import create_window, end_window
from monitoring.monitors.models import CheckState, Monitor

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from monitoring.auth.models import Team

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)

# How long before now the blog was in maintenance, and for how long.
EARLIER = (9 * HOUR, 90 * MINUTE)
BEGUN = 25 * MINUTE


async def make_maintenance(team: Team, monitors: dict[str, UUID], now: datetime) -> dict[str, UUID]:
    """Make the windows, and return their ids by what they show. Only the blog is in maintenance."""
    over = await create_window(
        team.id, {"name": "Move to the new rack", "duration_seconds": 5400, "tags": ["rack"]}
    )
    await end_window(team.id, over.id)
    since, long = EARLIER
    begun = now - since
    await MaintenanceWindow.filter(id=over.id).update(
        starts_at=begun, ended_at=begun + long, created_at=begun
    )
    await MaintenanceSpan.create(monitor_id=monitors["maintenance"], starts_at=begun, ends_at=begun + long)
    weekly = await create_window(
        team.id,
        {
            "name": "Backup",
            "starts_at": f"{now + timedelta(days=3):%Y-%m-%d}T02:00:00Z",
            "duration_seconds": 3600,
            "recurrence": "FREQ=WEEKLY",
            "time_zone": "Europe/Berlin",
            "monitor_ids": [str(monitors["up"]), str(monitors["recovered"])],
            "tags": ["api"],
        },
    )
    active = await create_window(
        team.id, {"name": "Deployment of the blog", "duration_seconds": 3600, "tags": ["blog"]}
    )
    begun = now - BEGUN
    times = {"starts_at": begun, "created_at": begun}
    await MaintenanceWindow.filter(id=active.id).update(**times)
    blog, ends_at = monitors["maintenance"], begun + HOUR
    await MaintenanceSpan.filter(monitor_id=blog, ends_at__gt=now).update(starts_at=begun, ends_at=ends_at)
    await CheckState.filter(monitor_id=blog).update(maintenance_from=begun, maintenance_until=ends_at)
    await Monitor.filter(id=blog).update(status_changed_at=begun)
    return {"active": active.id, "weekly": weekly.id, "over": over.id}
