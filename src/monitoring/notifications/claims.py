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
from monitoring.notifications.models import DeliveryStatus, NotificationChannel, NotificationDelivery
from monitoring.notifications.rules import CHANNEL_DISABLED, MAX_ATTEMPTS, WORKER_STOPPED
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

    when_given_back: ClassVar[Mapping[str, object]] = {"nudged_at": None}

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
        if not channel.enabled or delivery.attempts >= MAX_ATTEMPTS:
            delivery.status, delivery.due_at, delivery.claim = DeliveryStatus.FAILED, None, None
            delivery.error_message = WORKER_STOPPED if channel.enabled else CHANNEL_DISABLED
            await delivery.save()
            return None
        if not await has_room(channel, now):
            delivery.due_at = now + NO_ROOM_WAIT * (1 + random.random())  # noqa: S311 - jitter is no secret
            delivery.claim = delivery.nudged_at = None
            await delivery.save()
            return None
        await begin_attempt(delivery, claim_id, now + LEASE)
    return DeliveryClaim(claim_id, delivery, channel)
