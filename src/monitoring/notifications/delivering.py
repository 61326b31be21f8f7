"""One attempt: a notification goes out, and what came of it is stored."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from monitoring.backends.database import transaction
from monitoring.metrics import NOTIFICATION_ATTEMPTS
from monitoring.notifications.channels import CHANNELS
from monitoring.notifications.deliveries import end_waiting_deliveries
from monitoring.notifications.models import DeliveryStatus, NotificationChannel
from monitoring.notifications.rules import conclude

if TYPE_CHECKING:
    from monitoring.notifications.channels.protocol import AttemptResult
    from monitoring.notifications.channels.sending import Sender
    from monitoring.notifications.claims import DeliveryClaim
    from monitoring.notifications.rules import Conclusion


async def attempt_delivery(claim: DeliveryClaim, sender: Sender) -> None:
    """Send a claimed delivery and store what came of it, unless the claim was lost meanwhile."""
    delivery, kind = claim.row, CHANNELS[claim.channel.type]
    try:
        result = await kind.send(delivery, claim.channel, sender, datetime.now(UTC))
    except (asyncio.CancelledError, OSError):
        await claim.give_back()
        raise
    conclusion = conclude(result, delivery.attempts, random.random())  # noqa: S311 - jitter is no secret
    await _store(claim, result, conclusion, datetime.now(UTC))
    NOTIFICATION_ATTEMPTS.labels(conclusion.outcome).inc()


async def _store(claim: DeliveryClaim, result: AttemptResult, conclusion: Conclusion, now: datetime) -> None:
    async with transaction():
        if result.disabled_reason:
            await _disable(claim.channel, result.disabled_reason, now)
        await claim.end(
            status=conclusion.status,
            status_code=result.status_code,
            error_message=result.error_message,
            due_at=now + conclusion.wait if conclusion.wait else None,
            delivered_at=now if conclusion.status is DeliveryStatus.DELIVERED else None,
            nudged_at=None,
        )


async def _disable(channel: NotificationChannel, reason: str, now: datetime) -> None:
    """Turn off a channel because the other side asked for that, unless the channel was changed meanwhile."""
    asked = NotificationChannel.filter(id=channel.id, updated_at=channel.updated_at, enabled=True)
    if await asked.update(enabled=False, disabled_reason=reason, updated_at=now):
        await end_waiting_deliveries(channel.id)
