"""Which delivery is next: a server that never answers holds up only its own team."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tortoise.expressions import Q

from monitoring.backends.database import transaction
from monitoring.backends.leases import is_due, is_idle, take_idle
from monitoring.notifications.models import NotificationDelivery, NotificationWebhook

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

# A server that never answers holds an attempt until its timeout. These bound how many of a process's
# attempts one webhook, and one team, can hold that way. With two, a slow server gets its next notification
# without a pause.
MOST_AT_ONCE_A_WEBHOOK = 2
MOST_AT_ONCE_A_TEAM = 5


async def has_room(webhook: NotificationWebhook, now: datetime) -> bool:
    """Say whether one more attempt may begin, while the caller locks the webhook.

    The team is not locked, so that its webhooks do not wait for each other. When several of them are
    claimed for at once, the team may exceed its number a little.
    """
    sending = await _find_sending(await _find_webhooks(webhook.team_id), now)
    return len(sending) < MOST_AT_ONCE_A_TEAM and sending.count(webhook.id) < MOST_AT_ONCE_A_WEBHOOK


async def call_next(team_id: UUID) -> list[UUID]:
    """Choose the delivery that has waited longest for a webhook of the team with room, and make it due.

    It was never tried, or the time of its retry has come. Returns its id, for the caller to nudge.
    """
    now = datetime.now(UTC)
    async with transaction():
        webhook_ids = await _find_webhooks(team_id)
        sending = await _find_sending(webhook_ids, now)
        free = [each for each in webhook_ids if sending.count(each) < MOST_AT_ONCE_A_WEBHOOK]
        waiting = NotificationDelivery.filter(
            is_idle(now),
            Q(attempts=0, due_at__isnull=False) | is_due(now),
            webhook_id__in=free,
            claim=None,
        )
        return await take_idle(waiting.order_by("id").limit(1), now, due_at=now)


async def _find_webhooks(team_id: UUID) -> list[UUID]:
    return [webhook.id for webhook in await NotificationWebhook.filter(team_id=team_id).only("id")]


async def _find_sending(webhook_ids: Iterable[UUID], now: datetime) -> list[UUID]:
    """Return the webhook of each delivery that is being sent to one of these webhooks."""
    sending = NotificationDelivery.filter(webhook_id__in=webhook_ids, claim__isnull=False, due_at__gt=now)
    return [delivery.webhook_id for delivery in await sending.only("webhook_id")]
