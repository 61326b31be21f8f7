"""The delivery log: deliveries to channels, and their results. Each function is one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import timedelta
from uuid import UUID, uuid4

from tortoise.expressions import Q

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.pages import Page, read_page
from monitoring.backends.repeating import wait_until
from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.notifications.announcing import make_delivery
from monitoring.notifications.confirming import count_question
from monitoring.notifications.models import (
    CONFIRMATION,
    DeliveryStatus,
    KeptRequest,
    NotificationChannel,
    NotificationDelivery,
)
from monitoring.notifications.recording import record_act
from monitoring.notifications.retries import CHANNEL_DISABLED
from monitoring.notifications.routing import TEST, Announcement

# How long a caller waits for a test's first attempt, which may take longer.
TEST_PATIENCE = timedelta(seconds=10)

MOST_ABOUT = 200


async def queue_test(team_id: UUID, channel_id: UUID, *, by: Actor | None = None) -> NotificationDelivery:
    """Queue a test notification. Raises Problem if the channel is missing, disabled or unconfirmed."""
    async with transaction():
        channel = await _lock_channel(team_id, channel_id, absent="notification_channel_not_found")
        _demand_consent(channel, TEST)
        now = current_backends().clock.now()
        test = Announcement(team_id=team_id, event=TEST, happened_at=now, subject={})
        delivery = make_delivery(test, channel_id)
        await delivery.save()
        await record_act(channel, Action.CHANNEL_TESTED, by)
        return delivery


async def wait_for_attempt(delivery_id: UUID) -> NotificationDelivery | None:
    """Return a delivery once its first attempt has ended, or after TEST_PATIENCE, or None if it was deleted.

    The attempt runs in a worker, because API processes should not need outgoing connections.
    """
    return await wait_until(
        lambda delivery: delivery is None or _was_tried(delivery),
        lambda: NotificationDelivery.get_or_none(id=delivery_id),
        TEST_PATIENCE,
    )


async def list_deliveries(
    channel: NotificationChannel, status: str | None, limit: int, after_id: UUID | None
) -> Page[NotificationDelivery]:
    """Return a page of up to `limit` deliveries to a channel, newest first, starting after `after_id`."""
    deliveries = NotificationDelivery.filter(channel_id=channel.id)
    return await read_page(deliveries.filter(status=status) if status else deliveries, limit, after_id)


async def read_kept_requests(deliveries: Collection[NotificationDelivery]) -> dict[UUID, Json]:
    """Return the requests that a sandbox stored instead of sending (`KeptRequest`), by delivery id."""
    kept = KeptRequest.filter(delivery_id__in=[each.id for each in deliveries])
    return {each.delivery_id: each.request for each in await kept} if deliveries else {}


async def list_deliveries_about(
    team_id: UUID, subject_id: UUID, *, newest_first: bool = False
) -> list[NotificationDelivery]:
    """Return up to MOST_ABOUT deliveries about a subject, such as an incident, with their channels.

    The oldest delivery is first, unless `newest_first` is set. Deliveries are kept for 30 days.
    """
    about = NotificationDelivery.filter(subject_id=subject_id, channel__team_id=team_id)
    return await about.order_by("-id" if newest_first else "id").limit(MOST_ABOUT).select_related("channel")


def is_somebody_told(deliveries: Iterable[NotificationDelivery]) -> bool:
    """Return whether any of these deliveries is delivered or pending."""
    return any(each.status in (DeliveryStatus.DELIVERED, DeliveryStatus.PENDING) for each in deliveries)


async def redeliver(
    team_id: UUID, channel_id: UUID, delivery_id: UUID, *, by: Actor | None = None
) -> NotificationDelivery:
    """Make a delivery due again, and reset its attempts and result.

    An attempt in progress continues, but its result is discarded. The delivery becomes due only when that
    attempt's lease expires, so repeated calls never cause concurrent attempts. Raises Problem if the delivery
    is missing, or if its channel is disabled or unconfirmed.
    """
    async with transaction():
        channel = await _lock_channel(team_id, channel_id, absent="notification_delivery_not_found")
        deliveries = NotificationDelivery.select_for_update()
        delivery = await deliveries.get_or_none(id=delivery_id, channel_id=channel_id)
        if delivery is None:
            raise Problem("notification_delivery_not_found")
        _demand_consent(channel, delivery.event)
        if delivery.event == CONFIRMATION:
            await count_question(channel)
        now = current_backends().clock.now()
        if delivery.claim and delivery.due_at and delivery.due_at > now:
            delivery.claim = uuid4()  # a new claim, which no worker holds
        else:
            delivery.due_at, delivery.claim = now, None
        delivery.may_have_arrived |= delivery.status == DeliveryStatus.DELIVERED
        delivery.status, delivery.attempts = DeliveryStatus.PENDING, 0
        delivery.nudged_at = delivery.delivered_at = delivery.hold = delivery.digest_id = None
        delivery.status_code = delivery.error_message = None
        await delivery.save()
        await record_act(channel, Action.CHANNEL_SENT_AGAIN, by)
        return delivery


async def end_waiting_deliveries(channel_id: UUID) -> int:
    """Mark a disabled channel's waiting deliveries as failed, and return their number.

    Deliveries that are currently being sent, separately or in a digest, are left unchanged.
    """
    of_channel = NotificationDelivery.filter(channel_id=channel_id)
    under_way = await of_channel.filter(claim__isnull=False).values_list("id", flat=True)
    waiting = of_channel.filter(
        Q(digest_id=None) | ~Q(digest_id__in=under_way), status=DeliveryStatus.PENDING, claim=None
    )
    return await waiting.update(status=DeliveryStatus.FAILED, due_at=None, error_message=CHANNEL_DISABLED)


async def _lock_channel(team_id: UUID, channel_id: UUID, *, absent: str) -> NotificationChannel:
    """Lock an enabled channel until the transaction ends.

    Raises the Problem named `absent` if the channel is missing, and another Problem if it is disabled.
    """
    locked = NotificationChannel.select_for_update(no_key=True)
    channel = await locked.get_or_none(id=channel_id, team_id=team_id)
    if channel is None:
        raise Problem(absent)
    if not channel.enabled:
        raise Problem("notification_channel_disabled")
    return channel


def _demand_consent(channel: NotificationChannel, event: str) -> None:
    """Raise Problem if the channel is unconfirmed, unless the event is the confirmation request."""
    if channel.is_unconfirmed and event != CONFIRMATION:
        raise Problem("notification_channel_unconfirmed")


def _was_tried(delivery: NotificationDelivery) -> bool:
    return delivery.status != DeliveryStatus.PENDING or delivery.error_message is not None
