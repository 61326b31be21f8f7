"""Finds due deliveries without a task message, and deletes old ones.

No task message is queued for a retry: once it is due, the sweep finds it, or a finished attempt starts it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from tortoise.queryset import QuerySet

from monitoring.backends.clock import TOLERANCE
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.leases import NUDGE_INTERVAL, is_idle, sweep_idle
from monitoring.backends.statements import is_postgres, spell
from monitoring.notifications.models import NotificationDelivery
from monitoring.notifications.scheduling import MOST_AT_ONCE_A_CHANNEL, is_due
from monitoring.notifications.tasks import deliver_notification

MAX_NOTIFICATIONS_A_SWEEP = 200

# For each channel the deliveries that have waited longest, as many as may be sent to it at once. Finished
# attempts start the others, so ten thousand deliveries to one server do not delay all others.
_CHOSEN = f"""
    SELECT id FROM (
        SELECT id, due_at, row_number() OVER (PARTITION BY channel_id ORDER BY due_at, id) AS turn
        FROM notification_deliveries
        WHERE due_at <= $1 AND (nudged_at IS NULL OR nudged_at <= $2 OR nudged_at > $3)
    ) AS idle WHERE turn <= {MOST_AT_ONCE_A_CHANNEL} ORDER BY due_at LIMIT $4
"""  # noqa: S608 - a number of our own

RETENTION = timedelta(days=30)
DELETED_AT_ONCE = 1000


async def sweep_notifications() -> int:
    """Queue a task for every idle delivery that is due. Returns how many."""
    return await sweep_idle(deliver_notification, _find_idle_deliveries, MAX_NOTIFICATIONS_A_SWEEP)


async def sweep_misdated_notifications() -> int:
    """Queue a task for every idle delivery that a clock which was ahead has postponed. Returns how many.

    It reads all pending deliveries, so it does not run with each sweep.
    """
    return await sweep_idle(deliver_notification, _find_misdated_deliveries, MAX_NOTIFICATIONS_A_SWEEP)


async def delete_old_deliveries(now: datetime) -> int:
    """Delete deliveries that are older than 30 days, in several transactions. Returns how many."""
    deleted_count = 0
    while portion := await _delete_portion(now - RETENTION):
        deleted_count += portion
    return deleted_count


async def _find_idle_deliveries(now: datetime) -> QuerySet[NotificationDelivery]:
    connection = current_backends().database.context.db()
    moments = now, now - NUDGE_INTERVAL, now + TOLERANCE
    rows = await connection.execute_query_dict(
        spell(connection, _CHOSEN),
        [*(moments if is_postgres(connection) else map(str, moments)), MAX_NOTIFICATIONS_A_SWEEP],
    )
    chosen = NotificationDelivery.filter(is_due(now), is_idle(now), id__in=[row["id"] for row in rows])
    return chosen.order_by("due_at")


async def _find_misdated_deliveries(now: datetime) -> QuerySet[NotificationDelivery]:
    return NotificationDelivery.filter(is_due(now), is_idle(now), due_at__gt=now).order_by("due_at")


async def _delete_portion(before: datetime) -> int:
    old = NotificationDelivery.filter(created_at__lt=before).order_by("created_at")
    async with transaction():
        locked = old.select_for_update(skip_locked=True).limit(DELETED_AT_ONCE)
        delivery_ids = [delivery.id for delivery in await locked.only("id")]
        return await NotificationDelivery.filter(id__in=delivery_ids).delete()
