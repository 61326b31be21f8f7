"""Skips deliveries whose incident or degradation ends before their channel's delay has passed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from monitoring.notifications.grouping import DIGEST
from monitoring.notifications.models import DeliveryStatus, NotificationDelivery
from monitoring.notifications.retries import OVER_BEFORE_THE_DELAY, TAKEN_BEFORE_THE_DELAY
from monitoring.notifications.routing import ACKNOWLEDGED, BEGINNINGS, Announcement, Route

# The id of a channel, and the id of the incident or monitor that a delivery is about.
Told = tuple[UUID, UUID | None]


async def end_delays(
    announcements: Sequence[Announcement], routes: Mapping[UUID, Iterable[Route]]
) -> set[Told]:
    """For each incident or degradation that these events end, skip delayed deliveries about its beginning.

    Runs in the caller's transaction. Returns (channel, subject) pairs. A pair means that the channel was
    never notified of the subject's beginning, and therefore need not be notified of its end.
    """
    endings = {each.subject_id: each for each in announcements if each.event in BEGINNINGS}
    if not endings:
        return set()
    routes_by_channel = {route.channel_id: route for each in routes.values() for route in each}
    beginnings = await _find_beginnings(endings)
    never_told = {each for each, delivery in beginnings.items() if delivery.status == DeliveryStatus.SKIPPED}
    waiting = [
        delivery.id
        for delivery in beginnings.values()
        if _is_early(delivery, routes_by_channel.get(delivery.channel_id), endings)
    ]
    skipped: dict[str, list[UUID]] = {}
    for delivery in await _lock_untouched(waiting):
        never_told.add((delivery.channel_id, delivery.subject_id))
        ending = endings[delivery.subject_id]
        if routes_by_channel[delivery.channel_id].is_spared_by(ending.event):
            was_taken = ending.event == ACKNOWLEDGED
            reason = TAKEN_BEFORE_THE_DELAY if was_taken else OVER_BEFORE_THE_DELAY
            skipped.setdefault(reason, []).append(delivery.id)
    for reason, delivery_ids in skipped.items():
        await NotificationDelivery.filter(id__in=delivery_ids).update(
            status=DeliveryStatus.SKIPPED, due_at=None, error_message=reason
        )
    return never_told


async def _find_beginnings(endings: Mapping[UUID | None, Announcement]) -> dict[Told, NotificationDelivery]:
    """Return each channel's last delivery about the beginning of each subject, by channel and subject id.

    A returned delivery may since have become a digest.
    """
    beginnings = NotificationDelivery.filter(
        subject_id__in=list(endings), event__in=[*set(BEGINNINGS.values()), DIGEST]
    )
    columns = ("id", "channel_id", "subject_id", "status", "created_at", "event")
    in_order = await beginnings.order_by("id").only(*columns)
    return {(each.channel_id, each.subject_id): each for each in in_order}


def _is_early(
    delivery: NotificationDelivery, route: Route | None, endings: Mapping[UUID | None, Announcement]
) -> bool:
    """Return whether a delivery is pending, and its subject ended before the channel's delay had passed.

    Time spent waiting for other reasons, such as quiet hours, is ignored.
    """
    is_pending = delivery.status == DeliveryStatus.PENDING and delivery.event != DIGEST
    if route is None or not is_pending:
        return False
    return delivery.created_at + route.delay_of(delivery.event) > endings[delivery.subject_id].happened_at


async def _lock_untouched(delivery_ids: Sequence[UUID]) -> Sequence[NotificationDelivery]:
    """Lock and return the deliveries with these ids that are pending and have not been attempted.

    While they are locked, no attempt can start.
    """
    if not delivery_ids:
        return []
    untouched = NotificationDelivery.filter(
        id__in=delivery_ids, status=DeliveryStatus.PENDING, attempts=0, digest_id=None
    )
    return await untouched.select_for_update().order_by("id")
