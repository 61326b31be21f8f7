"""Reminds channels of open incidents that nobody acknowledged, as often as each channel wants."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from monitoring.backends.database import transaction
from monitoring.incidents.models import Incident
from monitoring.incidents.service import announcement_of
from monitoring.monitors.models import Monitor
from monitoring.notifications.announcing import announce
from monitoring.notifications.configuration import configuration_of
from monitoring.notifications.models import DeliveryStatus, NotificationChannel, NotificationDelivery
from monitoring.notifications.routing import REMINDER
from monitoring.notifications.tasks import nudge

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

# Of one channel in one round. The next round reminds of the others.
INCIDENTS_AT_ONCE = 1000


async def remind(now: datetime) -> None:
    """Queue the reminders that are due. Several workers may do this at once."""
    for channel in await NotificationChannel.filter(enabled=True).only("id", "events"):
        if REMINDER in channel.events:
            async with transaction():
                delivery_ids = await _remind_channel(channel.id, now)
            await nudge(delivery_ids)


async def _remind_channel(channel_id: UUID, now: datetime) -> list[UUID]:
    """Announce to one channel, which is locked meanwhile. Returns deliveries to nudge after the commit."""
    locked = NotificationChannel.select_for_update(no_key=True, skip_locked=True)
    channel = await locked.get_or_none(id=channel_id, enabled=True)
    if channel is None:
        return []
    before = now - timedelta(seconds=configuration_of(channel)["routing"]["reminder_interval_seconds"])
    old = Incident.filter(
        team_id=channel.team_id, resolved_at=None, acknowledged_at=None, confirmed_at__lte=before
    )
    incidents = await _without_a_message_since(before, channel_id, await old.limit(INCIDENTS_AT_ONCE))
    monitors = await Monitor.in_bulk([incident.monitor_id for incident in incidents], "id")
    announcements = [
        replace(
            announcement_of(REMINDER, now, incident, monitors[incident.monitor_id]),
            channel_ids=[channel_id],
        )
        for incident in incidents
        if incident.monitor_id in monitors
    ]
    return await announce(announcements) if announcements else []


async def _without_a_message_since(
    before: datetime, channel_id: UUID, incidents: Sequence[Incident]
) -> list[Incident]:
    """Leave out incidents that the channel was told of lately, will be told of, or is spared from."""
    told = NotificationDelivery.filter(
        channel_id=channel_id, subject_id__in=[incident.id for incident in incidents]
    )
    last = {each.subject_id: each for each in await told.order_by("id")}
    return [
        incident
        for incident in incidents
        if not (message := last.get(incident.id))
        or (
            message.created_at <= before
            and message.status in (DeliveryStatus.DELIVERED, DeliveryStatus.FAILED)
        )
    ]
