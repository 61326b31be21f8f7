"""One attempt: a message goes out, and what came of it is stored."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from monitoring.backends.database import transaction
from monitoring.metrics import NOTIFICATION_ATTEMPTS
from monitoring.notifications.claims import give_back
from monitoring.notifications.deliveries import end_waiting_deliveries
from monitoring.notifications.models import DeliveryStatus, NotificationWebhook
from monitoring.notifications.rules import GONE, judge_attempt
from monitoring.notifications.signing import sign
from monitoring.outbound.exchanges import OutboundRequest

if TYPE_CHECKING:
    from monitoring.notifications.claims import Claim
    from monitoring.notifications.rules import Verdict
    from monitoring.notifications.sending import Sender

TIMEOUT_SECONDS = 15.0


async def attempt_delivery(claim: Claim, sender: Sender) -> None:
    """Send what was claimed, and store the answer, unless the claim was lost meanwhile."""
    delivery, webhook = claim.delivery, claim.webhook
    proof = sign(webhook.secret, delivery.id, datetime.now(UTC), delivery.payload)
    request = OutboundRequest(
        method="POST",
        url=webhook.url,
        headers={"Content-Type": "application/json", **proof},
        body=delivery.payload.encode(),
        timeout_seconds=TIMEOUT_SECONDS,
    )
    try:
        exchange = await sender.send(request)
    except (asyncio.CancelledError, OSError):
        await give_back(delivery.id, claim.claim_id)
        raise
    verdict = judge_attempt(exchange, delivery.attempts, random.random())  # noqa: S311 - jitter is no secret
    await _store(claim, verdict, datetime.now(UTC))
    NOTIFICATION_ATTEMPTS.labels(verdict.outcome).inc()


async def _store(claim: Claim, verdict: Verdict, now: datetime) -> None:
    async with transaction():
        if verdict.is_unwelcome:
            await _disable(claim.webhook, now)
        await claim.row().update(
            status=verdict.status,
            status_code=verdict.status_code,
            error_message=verdict.error_message,
            due_at=now + verdict.wait if verdict.wait else None,
            delivered_at=now if verdict.status is DeliveryStatus.DELIVERED else None,
            claim=None,
            nudged_at=None,
        )


async def _disable(webhook: NotificationWebhook, now: datetime) -> None:
    """Turn off a webhook whose server said so, unless it has another URL by now."""
    asked = NotificationWebhook.filter(id=webhook.id, url=webhook.url, enabled=True)
    if await asked.update(enabled=False, disabled_reason=GONE, updated_at=now):
        await end_waiting_deliveries(webhook.id)
