"""Claims on deliveries: the right to send a notification once.

A notification is sent again if a worker dies before it has stored the answer. While a lease lasts, nobody
else sends it, not even when a client asks for it again.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, ClassVar

from monitoring.backends.database import transaction
from monitoring.backends.leases import Claim, begin_attempt, is_due
from monitoring.notifications.grouping import end_parts, gather_digest
from monitoring.notifications.models import (
    CONFIRMATION,
    DeliveryStatus,
    NotificationChannel,
    NotificationDelivery,
)
from monitoring.notifications.routing import ASKED_FOR, Hold, route_of
from monitoring.notifications.rules import (
    CHANNEL_DISABLED,
    MAX_ATTEMPTS,
    NOT_CONFIRMED,
    WORKER_STOPPED,
)
from monitoring.notifications.turns import has_room

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

# Far longer than an attempt may take.
LEASE = timedelta(seconds=60)

# When the sweep looks again at a delivery that found no room, unless an attempt that ends calls it first.
NO_ROOM_WAIT = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class DeliveryClaim(Claim[NotificationDelivery]):
    """The right to send a delivery to its channel."""

    # Its receiver may have it already, by this id: it must stay what it is, and neither become another digest
    # nor a part of one.
    when_given_back: ClassVar[Mapping[str, object]] = {"nudged_at": None, "hold": None}

    channel: NotificationChannel


async def claim_delivery(delivery_id: UUID) -> DeliveryClaim | None:
    """Claim a delivery and count the attempt. Returns None if it is not due, or its channel is disabled.

    Returns None too while its channel or its team has no room for another attempt: the delivery is then due
    some seconds later. A delivery that has used up its attempts, because each time its worker was killed,
    ends as failed here.
    """
    async with DeliveryClaim.beginning(NotificationDelivery.filter(id=delivery_id)) as claim_id:
        return await _claim(delivery_id, claim_id)


async def _claim(delivery_id: UUID, claim_id: UUID) -> DeliveryClaim | None:
    now = datetime.now(UTC)
    due = NotificationDelivery.filter(is_due(now), id=delivery_id)
    async with transaction():
        found = await due.only("channel_id").first()
        if found is None:
            return None
        # The channel is locked before its deliveries, as everywhere, so that claims are counted one by one.
        channel = await NotificationChannel.select_for_update(no_key=True).get_or_none(id=found.channel_id)
        delivery = await due.select_for_update(skip_locked=True).first()
        if channel is None or delivery is None:
            return None
        if reason := _why_never(delivery, channel):
            delivery.status, delivery.due_at, delivery.claim = DeliveryStatus.FAILED, None, None
            delivery.error_message = reason
            await delivery.save()
            await end_parts(delivery, status=delivery.status, error_message=delivery.error_message)
            return None
        if waits_until := await _find_wait(delivery, channel, now):
            delivery.due_at, delivery.claim, delivery.nudged_at = waits_until, None, None
            await delivery.save()
            return None
        await gather_digest(delivery, channel, now)
        await begin_attempt(delivery, claim_id, now + LEASE)
    return DeliveryClaim(claim_id, delivery, channel)


async def _find_wait(
    delivery: NotificationDelivery, channel: NotificationChannel, now: datetime
) -> datetime | None:
    """Say until when a delivery waits that is due: for the end of quiet hours, or for room."""
    route, due_at = route_of(channel), delivery.due_at or now
    again_at = None
    if not await has_room(channel, now):
        again_at = now + NO_ROOM_WAIT * (1 + random.random())  # noqa: S311 - jitter is no secret
    if delivery.event not in ASKED_FOR and (late_end := route.late_end(due_at, again_at or now)):
        delivery.hold = Hold.LATE
        return late_end
    return again_at


def _why_never(delivery: NotificationDelivery, channel: NotificationChannel) -> str | None:
    """Say why a delivery will not be sent, or return None."""
    if not channel.enabled:
        return CHANNEL_DISABLED
    if channel.is_unconfirmed and delivery.event != CONFIRMATION:
        return NOT_CONFIRMED
    return WORKER_STOPPED if delivery.attempts >= MAX_ATTEMPTS else None
