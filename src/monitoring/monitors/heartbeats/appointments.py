"""Computes when a heartbeat is due after it was resumed or its schedule was changed.

The functions run in the caller's transaction, which has locked the check states.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from uuid import UUID

from monitoring.monitors.configuration import complete_settings
from monitoring.monitors.heartbeats.models import Heartbeat
from monitoring.monitors.heartbeats.schedules import Schedule
from monitoring.monitors.models import HEARTBEAT, Monitor


def schedule_of(monitor: Monitor) -> Schedule:
    """Read a heartbeat's schedule."""
    return Schedule.read(complete_settings(HEARTBEAT, monitor.settings))


async def begin_anew(
    monitors: Collection[Monitor], since: Mapping[UUID, datetime]
) -> dict[UUID, datetime | None]:
    """Restart the schedules of the unpaused heartbeats among `monitors`, each from its time in `since`.

    Return the due times of these heartbeats by monitor id. A due time is None if no ping has yet reported the
    end of a run of the heartbeat's job.
    """
    heartbeats = [monitor for monitor in monitors if monitor.type == HEARTBEAT and not monitor.paused]
    if not heartbeats:
        return {}
    rows = Heartbeat.filter(monitor_id__in=[monitor.id for monitor in heartbeats])
    pinged = {row.monitor_id: row for row in await rows.filter(counted_from__not_isnull=True)}
    for row in pinged.values():
        row.counted_from, row.started_at, row.run_id = since[row.monitor_id], None, None
    if pinged:
        await Heartbeat.bulk_update(pinged.values(), ["counted_from", "started_at", "run_id"])
    return {
        monitor.id: schedule_of(monitor).deadline_after(since[monitor.id]) if monitor.id in pinged else None
        for monitor in heartbeats
    }


async def find_appointment(monitor: Monitor, now: datetime) -> datetime | None:
    """Return the new due time of a pending heartbeat whose schedule was changed. It is `now` or later.

    The due time is None before the heartbeat's first ping.
    """
    heartbeat = await Heartbeat.get(monitor_id=monitor.id)
    deadline = schedule_of(monitor).deadline(heartbeat.counted_from, heartbeat.started_at)
    return deadline and max(deadline, now)
