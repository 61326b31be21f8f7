"""Measures how many notifications are waiting, and for how long."""

from __future__ import annotations

from datetime import UTC, datetime

from tortoise.functions import Count, Min

from monitoring.backends.current import current_backends
from monitoring.metrics import (
    NOTIFICATIONS_OVERDUE_SECONDS,
    OLDEST_PENDING_NOTIFICATION_SECONDS,
    PENDING_NOTIFICATIONS,
    record_age,
)
from monitoring.notifications.models import NotificationDelivery

# All due times are later than this time. Comparing `due_at` with it lets SQLite use the index, whereas
# `IS NOT NULL` would scan all deliveries.
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


async def measure_notifications() -> None:
    """Update the metrics for the number and ages of pending deliveries. Raises `DatabaseUnavailable`."""
    pending = NotificationDelivery.filter(due_at__gt=_LONG_AGO)
    counted = pending.annotate(count=Count("due_at"), since=Min("created_at"), due_since=Min("due_at"))
    [(count, since, due_since)] = await counted.values_list("count", "since", "due_since")
    now = current_backends().clock.now()
    PENDING_NOTIFICATIONS.set(count)
    record_age(OLDEST_PENDING_NOTIFICATION_SECONDS, since, now)
    record_age(NOTIFICATIONS_OVERDUE_SECONDS, due_since, now)
