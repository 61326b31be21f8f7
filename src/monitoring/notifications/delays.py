"""Deliveries that wait for their channel's delay, and what ends before it is never sent."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from monitoring.notifications.models import DeliveryStatus, NotificationDelivery
from monitoring.notifications.routing import ACKNOWLEDGED, BEGINNINGS, Hold
from monitoring.notifications.rules import OVER_BEFORE_THE_DELAY, TAKEN_BEFORE_THE_DELAY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from monitoring.notifications.routing import Announcement, Route

# A channel, and an incident or a monitor.
Told = tuple[UUID, UUID | None]


async def end_delays(
    announcements: Sequence[Announcement], routes: Mapping[UUID, Iterable[Route]]
) -> set[Told]:
    """Skip what these events end, in the caller's transaction, where the channel's delay has not passed.

    Returns which channel was never told that which subject began: it need not know of the end either.
    """
    endings = {each.subject_id: each for each in announcements if each.event in BEGINNINGS}
    if not endings:
        return set()
    routes_by_channel = {route.channel_id: route for each in routes.values() for route in each}
    never_told = set()
    skipped: dict[str, list[UUID]] = {}
    for delivery in await _find_delayed(endings):
        ending = endings[delivery.subject_id]
        is_waiting = _is_waiting(delivery, ending.happened_at)
        if is_waiting or delivery.status == DeliveryStatus.SKIPPED:
            never_told.add((delivery.channel_id, delivery.subject_id))
        route = routes_by_channel.get(delivery.channel_id)
        if is_waiting and (route is None or route.is_spared_by(ending.event)):
            was_taken = ending.event == ACKNOWLEDGED
            reason = TAKEN_BEFORE_THE_DELAY if was_taken else OVER_BEFORE_THE_DELAY
            skipped.setdefault(reason, []).append(delivery.id)
    for reason, delivery_ids in skipped.items():
        await NotificationDelivery.filter(id__in=delivery_ids).update(
            status=DeliveryStatus.SKIPPED, due_at=None, error_message=reason
        )
    return never_told


async def _find_delayed(endings: Mapping[UUID | None, Announcement]) -> Iterable[NotificationDelivery]:
    """Lock the last delayed beginning of each subject for each channel. No attempt can start meanwhile."""
    delayed = NotificationDelivery.filter(subject_id__in=list(endings), hold=Hold.DELAY)
    in_order = await delayed.select_for_update().order_by("id")
    return {(each.channel_id, each.subject_id): each for each in in_order}.values()


def _is_waiting(delivery: NotificationDelivery, ended_at: datetime) -> bool:
    is_untouched = delivery.status == DeliveryStatus.PENDING and delivery.attempts == 0
    return is_untouched and delivery.due_at is not None and delivery.due_at > ended_at
