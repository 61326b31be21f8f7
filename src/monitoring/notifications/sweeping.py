"""Finds due deliveries that no message asks for, and forgets old ones.

No message waits for a retry: its time comes, and the sweep finds it, or an attempt that ends calls it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from monitoring.backends.database import transaction
from monitoring.backends.statements import is_postgres, spell
from monitoring.notifications.claims import is_due
from monitoring.notifications.models import NotificationDelivery
from monitoring.notifications.tasks import deliver_notification, nudge
from monitoring.notifications.turns import MOST_AT_ONCE_A_WEBHOOK, NUDGE_INTERVAL, is_idle

if TYPE_CHECKING:
    from uuid import UUID

MAX_NOTIFICATIONS_A_SWEEP = 200

# The longest waiting of each webhook, as many as may be sent to it at once: attempts that end call the
# others, and ten thousand messages to one server do not stand before everybody else's.
_CHOSEN = f"""
    SELECT id FROM (
        SELECT id, due_at, row_number() OVER (PARTITION BY webhook_id ORDER BY due_at, id) AS turn
        FROM notification_deliveries
        WHERE due_at <= $1 AND (nudged_at IS NULL OR nudged_at <= $2)
    ) AS idle WHERE turn <= {MOST_AT_ONCE_A_WEBHOOK} ORDER BY due_at LIMIT $3
"""  # noqa: S608 - a number of our own

RETENTION = timedelta(days=30)
DELETED_AT_ONCE = 1000


async def sweep_notifications() -> int:
    """Send a message for every due delivery that none was sent for lately. Returns how many.

    Sends nothing while the queue is away or has enough of them: workers slower than the sweep would
    never catch up.
    """
    if await deliver_notification.has_enough_messages(MAX_NOTIFICATIONS_A_SWEEP):
        return 0
    delivery_ids = await _claim_idle_deliveries(datetime.now(UTC))
    await nudge(delivery_ids)
    return len(delivery_ids)


async def delete_old_deliveries(now: datetime) -> int:
    """Forget deliveries that are older than 30 days, a portion a transaction. Returns how many they were."""
    deleted_count = 0
    while portion := await _delete_portion(now - RETENTION):
        deleted_count += portion
    return deleted_count


async def _claim_idle_deliveries(now: datetime) -> list[UUID]:
    """Choose deliveries and note that messages go out: of sweeps at once, each gets deliveries of its own."""
    moments = (now, now - NUDGE_INTERVAL)
    async with transaction() as connection:
        rows = await connection.execute_query_dict(
            spell(connection, _CHOSEN),
            [*(moments if is_postgres(connection) else map(str, moments)), MAX_NOTIFICATIONS_A_SWEEP],
        )
        chosen = NotificationDelivery.filter(is_due(now), is_idle(now), id__in=[row["id"] for row in rows])
        locked = chosen.order_by("due_at").select_for_update(skip_locked=True)
        delivery_ids = [delivery.id for delivery in await locked.only("id")]
        await NotificationDelivery.filter(id__in=delivery_ids).update(nudged_at=now)
    return delivery_ids


async def _delete_portion(before: datetime) -> int:
    old = NotificationDelivery.filter(created_at__lt=before).order_by("created_at")
    async with transaction():
        locked = old.select_for_update(skip_locked=True).limit(DELETED_AT_ONCE)
        delivery_ids = [delivery.id for delivery in await locked.only("id")]
        return await NotificationDelivery.filter(id__in=delivery_ids).delete()
