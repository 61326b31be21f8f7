"""Sends reminders of open incidents that nobody acknowledged, at each channel's interval."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.fields import first_uuid7_at, read_id
from monitoring.backends.statements import is_postgres, spell
from monitoring.incidents.models import Incident
from monitoring.incidents.service import announcement_of
from monitoring.monitors.models import Monitor
from monitoring.notifications.announcing import announce
from monitoring.notifications.models import NotificationChannel
from monitoring.notifications.routing import REMINDER, route_of
from monitoring.notifications.rules import MUTED_BEFORE
from monitoring.notifications.scheduling import LONGEST_WAIT
from monitoring.notifications.tasks import nudge

# The most reminders for one channel in one run. The next run sends the others.
INCIDENTS_AT_ONCE = 1000

# Leaves out incidents with a recent or pending delivery to the channel, or a skipped one, unless a mute was
# the reason. The bound by id uses the index of (channel, id), so that a month of old deliveries is not read.
_DUE = """
    SELECT id, monitor_id FROM incidents
    WHERE team_id = $1 AND resolved_at IS NULL AND acknowledged_at IS NULL AND confirmed_at <= $2
    AND id NOT IN (
        SELECT subject_id FROM notification_deliveries
        WHERE channel_id = $3 AND id >= $4 AND subject_id IS NOT NULL
        AND (created_at > $2 OR status = 'pending' OR status = 'skipped' AND error_message <> $5)
    )
    ORDER BY id
"""


async def remind(now: datetime) -> None:
    """Queue the reminders that are due. Several workers may run this at once."""
    for channel in await NotificationChannel.filter(enabled=True).only("id", "events"):
        if REMINDER in channel.events:
            async with transaction():
                delivery_ids = await _remind_channel(channel.id, now)
            await nudge(delivery_ids)


async def _remind_channel(channel_id: UUID, now: datetime) -> list[UUID]:
    """Queue the reminders of one channel, which stays locked. Returns deliveries to nudge."""
    locked = NotificationChannel.select_for_update(no_key=True, skip_locked=True)
    channel = await locked.get_or_none(id=channel_id, enabled=True)
    if channel is None:
        return []
    route = route_of(channel)
    before = now - timedelta(seconds=route.routing["reminder_interval_seconds"])
    due = await _find_due(channel, before)
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


async def _find_due(channel: NotificationChannel, before: datetime) -> dict[UUID, UUID]:
    """Return open incidents that this channel may be reminded of, oldest first, each with its monitor."""
    connection = current_backends().database.context.db()
    rows = await connection.execute_query_dict(
        spell(connection, _DUE),
        [
            str(channel.team_id),
            before if is_postgres(connection) else str(before),
            str(channel.id),
            str(first_uuid7_at(before - LONGEST_WAIT)),
            MUTED_BEFORE,
        ],
    )
    return {read_id(row["id"]): read_id(row["monitor_id"]) for row in rows}
