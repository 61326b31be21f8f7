"""Sends reminders of open, unacknowledged incidents at each channel's interval."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from monitoring.backends.database import transaction
from monitoring.backends.fields import first_uuid7_at
from monitoring.incidents.models import Incident
from monitoring.incidents.service import announcement_of
from monitoring.monitors.models import Monitor
from monitoring.monitors.queries import find_incidents_to_remind_of
from monitoring.notifications.announcing import announce
from monitoring.notifications.models import NotificationChannel
from monitoring.notifications.retries import MUTED_BEFORE
from monitoring.notifications.routing import REMINDER, route_of
from monitoring.notifications.scheduling import LONGEST_WAIT
from monitoring.notifications.tasks import nudge

# The maximum number of reminders per channel and run. The next run sends the rest.
INCIDENTS_AT_ONCE = 1000


async def remind(now: datetime) -> None:
    """Queue the reminders that are due. Several workers may run this at once."""
    for channel in await NotificationChannel.filter(enabled=True).only("id", "events"):
        if REMINDER in channel.events:
            async with transaction():
                delivery_ids = await _remind_channel(channel.id, now)
            await nudge(delivery_ids)


async def _remind_channel(channel_id: UUID, now: datetime) -> list[UUID]:
    """Lock a channel, and store its due reminders, in the caller's transaction.

    Return the ids of the deliveries to send after the commit, with `nudge`.
    """
    locked = NotificationChannel.select_for_update(no_key=True, skip_locked=True)
    channel = await locked.get_or_none(id=channel_id, enabled=True)
    if channel is None:
        return []
    route = route_of(channel)
    before = now - timedelta(seconds=route.routing["reminder_interval_seconds"])
    oldest_id = first_uuid7_at(before - LONGEST_WAIT)
    due = await find_incidents_to_remind_of(channel.team_id, channel_id, before, oldest_id, MUTED_BEFORE)
    if not due:
        return []
    monitors = await Monitor.filter(id__in=list(due.values())).only("id", "team_id", "name", "url", "tags")
    wanted = {monitor.id: monitor for monitor in monitors if route.concerns(monitor.id, monitor.tags)}
    chosen = [incident_id for incident_id, monitor_id in due.items() if monitor_id in wanted]
    incidents = await Incident.filter(id__in=chosen[:INCIDENTS_AT_ONCE]).order_by("id")
    announcements = [
        replace(
            announcement_of(REMINDER, now, incident, wanted[incident.monitor_id]), channel_ids=[channel_id]
        )
        for incident in incidents
    ]
    return await announce(announcements) if announcements else []
