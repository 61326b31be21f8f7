"""Claims on deliveries: a claim is the exclusive right to make one attempt to send a delivery.

A claim ends with the attempt, or when its lease expires. Until then, no other worker sends the delivery, even
if a client requests redelivery. A delivery is sent again if a worker dies before it has stored the result.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar
from uuid import UUID

from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.leases import Claim, begin_attempt
from monitoring.notifications.grouping import end_parts, find_parts, may_join_others, merge_parts
from monitoring.notifications.incident_order import (
    LOOK_AGAIN,
    find_blockers,
    is_end_of_nothing,
    skip_superseded,
)
from monitoring.notifications.log_lines import log_given_up, log_skipped
from monitoring.notifications.models import (
    CONFIRMATION,
    DeliveryStatus,
    NotificationChannel,
    NotificationDelivery,
)
from monitoring.notifications.retries import (
    CHANNEL_DISABLED,
    END_OF_NOTHING,
    MAX_ATTEMPTS,
    NOT_CONFIRMED,
    WORKER_STOPPED,
)
from monitoring.notifications.routing import ASKED_FOR, PAGERS, Hold, route_of
from monitoring.notifications.scheduling import LEASE, has_room, is_due

# How long a delivery is postponed when the concurrency limit is reached. It may start earlier, when another
# attempt ends.
NO_ROOM_WAIT = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class DeliveryClaim(Claim[NotificationDelivery]):
    """The exclusive right to send a delivery to its channel.

    `had_arrived` is true if an earlier attempt may have reached the receiver. During this attempt, the row's
    `may_have_arrived` is true, because the worker may die after it has sent the delivery.
    """

    # Clearing the hold keeps the delivery out of digests, because the receiver may already have received a
    # message with this delivery's id.
    when_given_back: ClassVar[Mapping[str, object]] = {"nudged_at": None, "hold": None}

    channel: NotificationChannel
    had_arrived: bool


async def claim_delivery(delivery_id: UUID) -> DeliveryClaim | None:
    """Claim a delivery and count the attempt. Returns None if the delivery cannot be sent now.

    The delivery is postponed while its channel or team is at the concurrency limit, during quiet hours, or
    while an earlier message about the incident is pending. The delivery fails if its channel is disabled or
    unconfirmed, or if a worker died during the last permitted attempt. The delivery is skipped if a later
    event has superseded it.
    """
    async with DeliveryClaim.beginning(NotificationDelivery.filter(id=delivery_id)) as claim_id:
        return await _claim(delivery_id, claim_id)


async def _claim(delivery_id: UUID, claim_id: UUID) -> DeliveryClaim | None:
    now = current_backends().clock.now()
    due = NotificationDelivery.filter(is_due(now), id=delivery_id)
    async with transaction():
        found = await due.only("channel_id").first()
        if found is None:
            return None
        # Lock the channel before its deliveries, so that concurrent claims are counted one at a time.
        channel = await NotificationChannel.select_for_update(no_key=True).get_or_none(id=found.channel_id)
        delivery = await due.select_for_update(skip_locked=True).first()
        if channel is None or delivery is None:
            return None
        if reason := _find_obstacle(delivery, channel):
            await _end(delivery, DeliveryStatus.FAILED, reason)
            log_given_up(delivery, channel, reason)
            return None
        again_at = None
        if not await has_room(channel, now):
            again_at = now + NO_ROOM_WAIT * (1 + random.random())  # noqa: S311 - jitter is no secret
        if await _postpone(delivery, channel, again_at, now):
            return None
        parts = await _take_parts(delivery, channel, now)
        if parts is None:
            return None
        await merge_parts(delivery, parts, now)
        had_arrived, delivery.may_have_arrived = delivery.may_have_arrived, True
        await begin_attempt(delivery, claim_id, now + LEASE)
    return DeliveryClaim(claim_id, delivery, channel, had_arrived)


async def _postpone(
    delivery: NotificationDelivery, channel: NotificationChannel, again_at: datetime | None, now: datetime
) -> bool:
    """Postpone a delivery to `again_at`, or to the end of quiet hours that began after it was due.

    Returns False, and changes nothing, if `again_at` is None and there are no such quiet hours.
    """
    route, due_at = route_of(channel), delivery.due_at or now
    if delivery.event not in ASKED_FOR and (late_end := route.late_end(due_at, again_at or now)):
        delivery.hold, again_at = Hold.LATE, late_end
    if again_at is None:
        return False
    delivery.due_at, delivery.claim, delivery.nudged_at = again_at, None, None
    await delivery.save()
    return True


async def _take_parts(
    delivery: NotificationDelivery, channel: NotificationChannel, now: datetime
) -> list[NotificationDelivery] | None:
    """Skip superseded deliveries, and return the other deliveries to send in one digest with `delivery`.

    Returns None if `delivery` itself was skipped, or must wait for an earlier delivery.
    """
    parts = await find_parts(delivery, channel, now)
    blockers = await find_blockers([delivery, *parts], now)
    skipped, waits_until = set(), blockers.waits.get(delivery.id)
    for superseded, because_of in blockers.superseded:
        if reason := await skip_superseded(superseded, because_of):
            skipped.add(superseded.id)
            log_skipped(superseded, channel, reason)
        else:
            waits_until = now + LOOK_AGAIN
    if delivery.id in skipped:
        return None
    if waits_until:
        if not may_join_others(delivery, channel):
            delivery.hold = Hold.STORY
        await _postpone(delivery, channel, waits_until, now)
        return None
    if channel.type in PAGERS and await is_end_of_nothing(delivery):
        await _end(delivery, DeliveryStatus.SKIPPED, END_OF_NOTHING)
        log_skipped(delivery, channel, END_OF_NOTHING)
        return None
    return [part for part in parts if part.id not in skipped and part.id not in blockers.waits]


async def _end(delivery: NotificationDelivery, status: DeliveryStatus, reason: str) -> None:
    """Give a delivery its final status and the reason for it, without another attempt."""
    delivery.status, delivery.due_at, delivery.claim = status, None, None
    delivery.error_message = reason
    await delivery.save()
    await end_parts(delivery, status=status, error_message=reason)


def _find_obstacle(delivery: NotificationDelivery, channel: NotificationChannel) -> str | None:
    """Return why a delivery cannot be sent, or None if it can."""
    if not channel.enabled:
        return CHANNEL_DISABLED
    if channel.is_unconfirmed and delivery.event != CONFIRMATION:
        return NOT_CONFIRMED
    return WORKER_STOPPED if delivery.attempts >= MAX_ATTEMPTS else None
