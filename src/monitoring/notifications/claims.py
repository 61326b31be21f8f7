"""A claim is a lease on a delivery: the right to send it once.

A message is repeated when a worker dies before it has stored the answer. While a lease lasts nobody else
sends it, not even when a client asks for it again.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from tortoise.expressions import F, Q

from monitoring.backends.database import transaction
from monitoring.notifications.models import DeliveryStatus, NotificationDelivery, NotificationWebhook
from monitoring.notifications.rules import MAX_ATTEMPTS, WEBHOOK_DISABLED, WORKER_STOPPED
from monitoring.notifications.turns import has_room

if TYPE_CHECKING:
    from tortoise.queryset import QuerySet

# Far longer than an attempt may take.
LEASE = timedelta(seconds=60)

# When what found no room is looked at again by the sweep, unless an attempt that ends calls it first.
NO_ROOM_WAIT = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to send a delivery; its attempts include the one that begins."""

    claim_id: UUID
    delivery: NotificationDelivery
    webhook: NotificationWebhook

    def row(self) -> QuerySet[NotificationDelivery]:
        """Find the row, as long as it is ours."""
        return NotificationDelivery.filter(id=self.delivery.id, claim=self.claim_id)


def is_due(now: datetime) -> Q:
    """Match what a worker may take: what waits no longer, or whose worker let the lease run out."""
    return Q(due_at__lte=now)


async def claim_delivery(delivery_id: UUID) -> Claim | None:
    """Claim a delivery and count the attempt; None if it is not due, or its webhook is disabled.

    None too while enough is sent to its webhook, or to its team's: then it is due some seconds later.
    What used up its attempts without an answer, its worker killed each time, ends as failed here.
    """
    claim_id = uuid4()
    try:
        return await _claim(delivery_id, claim_id)
    except asyncio.CancelledError:
        await give_back(delivery_id, claim_id)  # the commit may have gone through
        raise


async def give_back(delivery_id: UUID, claim_id: UUID) -> None:
    """Free what a stopped worker had claimed, as if it had never been begun."""
    await NotificationDelivery.filter(id=delivery_id, claim=claim_id).update(
        attempts=F("attempts") - 1, due_at=datetime.now(UTC), claim=None, nudged_at=None
    )


async def _claim(delivery_id: UUID, claim_id: UUID) -> Claim | None:
    now = datetime.now(UTC)
    due = NotificationDelivery.filter(is_due(now), id=delivery_id)
    async with transaction():
        found = await due.only("webhook_id").first()
        if found is None:
            return None
        # Locked before its deliveries, as wherever it is changed; claims to it are counted one by one.
        webhook = await NotificationWebhook.select_for_update(no_key=True).get_or_none(id=found.webhook_id)
        delivery = await due.select_for_update(skip_locked=True).first()
        if webhook is None or delivery is None:
            return None
        if not webhook.enabled or delivery.attempts >= MAX_ATTEMPTS:
            delivery.status, delivery.due_at, delivery.claim = DeliveryStatus.FAILED, None, None
            delivery.error_message = WORKER_STOPPED if webhook.enabled else WEBHOOK_DISABLED
            await delivery.save()
            return None
        if not await has_room(webhook, now):
            delivery.due_at = now + NO_ROOM_WAIT * (1 + random.random())  # noqa: S311 - jitter is no secret
            delivery.claim = delivery.nudged_at = None
            await delivery.save()
            return None
        delivery.attempts += 1
        delivery.due_at, delivery.claim = now + LEASE, claim_id
        await delivery.save()
    return Claim(claim_id, delivery, webhook)
