"""Disables channels whose receiver wants no more notifications, or whose deliveries keep failing."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from monitoring.notifications.announcing import announce
from monitoring.notifications.deliveries import end_waiting_deliveries
from monitoring.notifications.log_lines import log_disabled
from monitoring.notifications.models import DeliveryStatus, NotificationChannel, NotificationDelivery
from monitoring.notifications.retries import MAX_ATTEMPTS
from monitoring.notifications.routing import Announcement

# After this many consecutive permanent failures, a channel is considered misconfigured.
MOST_REFUSED = 10

MAX_REASON_CHARACTERS = 255


async def disable(channel: NotificationChannel, reason: str, now: datetime) -> list[UUID]:
    """Disable a channel, and notify the team's other channels.

    Does nothing if the channel has been changed since it was read.
    Runs in the caller's transaction. Returns the ids of deliveries to send with `nudge` after the commit.
    """
    reason = reason[:MAX_REASON_CHARACTERS]
    unchanged = NotificationChannel.filter(id=channel.id, updated_at=channel.updated_at, enabled=True)
    if not await unchanged.update(enabled=False, disabled_reason=reason, updated_at=now):
        return []
    log_disabled(channel, reason, await end_waiting_deliveries(channel.id))
    about = {"id": str(channel.id), "type": channel.type, "name": channel.name, "disabled_reason": reason}
    return await announce(
        [
            Announcement(
                team_id=channel.team_id,
                event="channel.disabled",
                happened_at=now,
                subject={"channel": about},
                subject_id=channel.id,
            )
        ]
    )


async def find_failure(delivery: NotificationDelivery, channel: NotificationChannel) -> str | None:
    """Return why to disable a channel after a delivery's permanent failure, or None to keep it enabled.

    A channel is disabled if every attempt to send the delivery failed, which takes about 27 hours, and if
    nothing else was delivered in that time. A channel is also disabled if at least MOST_REFUSED messages were
    sent since its last change, and the last MOST_REFUSED of them failed. A digest counts as one message.
    """
    said = delivery.error_message or ""
    those = NotificationDelivery.filter(channel_id=channel.id)
    if delivery.attempts >= MAX_ATTEMPTS:
        if await those.filter(delivered_at__gte=delivery.created_at).exists():
            return None
        return f"Nothing was delivered since {delivery.created_at:%Y-%m-%d %H:%M} UTC. {said}".strip()
    ended = those.filter(status__in=(DeliveryStatus.DELIVERED, DeliveryStatus.FAILED))
    ended = ended.filter(digest_id=None, attempts__gt=0, created_at__gte=channel.updated_at)
    last = await ended.order_by("-id").limit(MOST_REFUSED)
    if len(last) == MOST_REFUSED and all(each.status == DeliveryStatus.FAILED for each in last):
        return f"The last {MOST_REFUSED} messages were all refused. {said}".strip()
    return None
