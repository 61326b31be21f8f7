"""Queues due deliveries that have no task message, and deletes old deliveries.

A retry has no task message at first. When the retry is due, the sweep or a finished attempt queues one.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from tortoise.queryset import QuerySet

from monitoring.backends.database import transaction
from monitoring.backends.leases import is_idle, sweep_idle
from monitoring.notifications.models import NotificationDelivery
from monitoring.notifications.queries import choose_idle_deliveries
from monitoring.notifications.scheduling import is_due
from monitoring.notifications.tasks import deliver_notification

MAX_NOTIFICATIONS_A_SWEEP = 200

RETENTION = timedelta(days=30)
DELETED_AT_ONCE = 1000


async def sweep_notifications() -> int:
    """Queue a task for each due delivery that has no task. Return the number of queued tasks."""
    return await sweep_idle(deliver_notification, _find_idle_deliveries, MAX_NOTIFICATIONS_A_SWEEP)


async def sweep_misdated_notifications() -> int:
    """Queue a task for each idle delivery whose due time is too late because a clock was wrong.

    Return the number of queued tasks. This reads all pending deliveries, so it does not run in every sweep.
    """
    return await sweep_idle(deliver_notification, _find_misdated_deliveries, MAX_NOTIFICATIONS_A_SWEEP)


async def delete_old_deliveries(now: datetime) -> int:
    """Delete deliveries older than 30 days, in several transactions. Return how many were deleted."""
    deleted_count = 0
    while portion := await _delete_portion(now - RETENTION):
        deleted_count += portion
    return deleted_count


async def _find_idle_deliveries(now: datetime) -> QuerySet[NotificationDelivery]:
    chosen_ids = await choose_idle_deliveries(now, MAX_NOTIFICATIONS_A_SWEEP)
    chosen = NotificationDelivery.filter(is_due(now), is_idle(now), id__in=chosen_ids)
    return chosen.order_by("due_at")


async def _find_misdated_deliveries(now: datetime) -> QuerySet[NotificationDelivery]:
    return NotificationDelivery.filter(is_due(now), is_idle(now), due_at__gt=now).order_by("due_at")


async def _delete_portion(before: datetime) -> int:
    old = NotificationDelivery.filter(created_at__lt=before).order_by("created_at")
    async with transaction():
        locked = old.select_for_update(skip_locked=True).limit(DELETED_AT_ONCE)
        delivery_ids = [delivery.id for delivery in await locked.only("id")]
        return await NotificationDelivery.filter(id__in=delivery_ids).delete()
