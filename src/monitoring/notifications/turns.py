"""Whose message is next: a server that never answers holds up nobody but its own team."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tortoise.expressions import Q

from monitoring.backends.database import transaction
from monitoring.notifications.models import NotificationDelivery, NotificationWebhook

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

# A server that never answers holds an attempt for 15 seconds: these bound how many of a process's turns one
# webhook, and one team, can hold that way. Two let a slow server get its next message without a pause.
MOST_AT_ONCE_A_WEBHOOK = 2
MOST_AT_ONCE_A_TEAM = 5

# How long a message may take to be worked on before it is thought lost; a message too many costs one query.
NUDGE_INTERVAL = timedelta(seconds=30)


def is_idle(now: datetime) -> Q:
    """Match what no message was sent for lately."""
    return Q(nudged_at=None) | Q(nudged_at__lte=now - NUDGE_INTERVAL)


async def has_room(webhook: NotificationWebhook, now: datetime) -> bool:
    """Say whether one more may be sent, while the caller holds the webhook.

    The team is not held, so that its webhooks do not wait for each other: of claims to several at once, some
    too many may pass.
    """
    sending = await _find_sending(await _find_webhooks(webhook.team_id), now)
    return len(sending) < MOST_AT_ONCE_A_TEAM and sending.count(webhook.id) < MOST_AT_ONCE_A_WEBHOOK


async def call_next(team_id: UUID) -> list[UUID]:
    """Make due what waits longest at a webhook of the team that has room, and return it to be nudged.

    What waits is what was never tried, and retries whose time has come.
    """
    now = datetime.now(UTC)
    async with transaction():
        webhook_ids = await _find_webhooks(team_id)
        sending = await _find_sending(webhook_ids, now)
        free = [each for each in webhook_ids if sending.count(each) < MOST_AT_ONCE_A_WEBHOOK]
        waiting = NotificationDelivery.filter(
            is_idle(now),
            Q(attempts=0, due_at__isnull=False) | Q(due_at__lte=now),
            webhook_id__in=free,
            claim=None,
        )
        delivery = await waiting.order_by("id").select_for_update(skip_locked=True).only("id").first()
        if delivery is None:
            return []
        await NotificationDelivery.filter(id=delivery.id).update(due_at=now, nudged_at=now)
    return [delivery.id]


async def _find_webhooks(team_id: UUID) -> list[UUID]:
    return [webhook.id for webhook in await NotificationWebhook.filter(team_id=team_id).only("id")]


async def _find_sending(webhook_ids: Iterable[UUID], now: datetime) -> list[UUID]:
    """Return the webhook of each delivery that is being sent to one of these."""
    sending = NotificationDelivery.filter(webhook_id__in=webhook_ids, claim__isnull=False, due_at__gt=now)
    return [delivery.webhook_id for delivery in await sending.only("webhook_id")]
