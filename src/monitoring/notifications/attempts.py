"""A delivery attempt: sends a notification and stores the result."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.errors import DatabaseUnavailable
from monitoring.backends.outage import note_delay
from monitoring.contract.document import Json
from monitoring.metrics import NOTIFICATION_ATTEMPTS
from monitoring.notifications.channels import CHANNELS
from monitoring.notifications.channels.keeping import find_keeping_sender
from monitoring.notifications.channels.protocol import AttemptResult
from monitoring.notifications.channels.sender import Sender
from monitoring.notifications.claims import DeliveryClaim
from monitoring.notifications.disabling import disable, find_failure
from monitoring.notifications.grouping import end_parts
from monitoring.notifications.incident_order import release_followers
from monitoring.notifications.log_lines import log_failure, log_given_up
from monitoring.notifications.models import DeliveryStatus, KeptRequest, NotificationChannel
from monitoring.notifications.retries import Conclusion, conclude
from monitoring.notifications.routing import route_of

STORE_AGAIN_SECONDS = 1.0


async def attempt_delivery(claim: DeliveryClaim, sender: Sender) -> list[UUID]:
    """Send a claimed delivery, and store the result if the claim is still valid.

    In a sandbox, the request is stored instead of sent. Returns the ids of the deliveries to send next with
    `nudge`: the deliveries that waited for this attempt and, if the attempt disabled the channel, the
    deliveries that notify the team's other channels of this.
    """
    delivery, kind, now = claim.row, CHANNELS[claim.channel.type], current_backends().clock.now()
    keeping = await find_keeping_sender(claim.channel)
    try:
        result = await kind.send(delivery, claim.channel, keeping or sender, now)
    except asyncio.CancelledError:
        await claim.give_back()
        raise
    except OSError:
        await claim.give_back(may_have_arrived=claim.had_arrived)
        raise
    conclusion = conclude(result, delivery.attempts, random.random())  # noqa: S311 - jitter is no secret
    told = await _store_while_leased(claim, result, conclusion, keeping.kept if keeping else None)
    NOTIFICATION_ATTEMPTS.labels(conclusion.outcome).inc()
    return told


async def _store_while_leased(
    claim: DeliveryClaim, result: AttemptResult, conclusion: Conclusion, kept: Json
) -> list[UUID]:
    """Store the result of an attempt. If the database is unavailable, retry until the claim's lease expires.

    If the result were lost, another worker would send the delivery again. Raises `DatabaseUnavailable` once
    the lease has expired, because another worker may then have claimed the delivery.
    """
    lease_ends_at = claim.row.due_at
    while True:
        now = current_backends().clock.now()
        try:
            return await _store(claim, result, conclusion, kept, now)
        except DatabaseUnavailable as error:
            if lease_ends_at is None or now >= lease_ends_at:
                raise
            note_delay("Storing the result of a notification", error)
            await asyncio.sleep(STORE_AGAIN_SECONDS)


async def _store(
    claim: DeliveryClaim, result: AttemptResult, conclusion: Conclusion, kept: Json, now: datetime
) -> list[UUID]:
    outcome = {
        "status": conclusion.status,
        "may_have_arrived": claim.had_arrived or result.may_have_arrived,
        "status_code": result.status_code,
        "error_message": result.error_message,
        "attempted_at": now,
        "delivered_at": now if conclusion.status is DeliveryStatus.DELIVERED else None,
    }
    route = route_of(claim.channel)
    due_at = now + conclusion.wait if conclusion.wait else None
    if due_at:
        due_at = route.quiet_end(due_at) or due_at
    async with transaction():
        if conclusion.status is DeliveryStatus.FAILED:  # lock order: the channel before its deliveries
            await NotificationChannel.select_for_update(no_key=True).get_or_none(id=claim.channel.id)
        await follow(claim.channel, result.new_settings, now)
        told = await disable(claim.channel, result.disabled_reason, now) if result.disabled_reason else []
        is_ours = await claim.end(**outcome, due_at=due_at, nudged_at=None)
        if is_ours and kept:
            await KeptRequest.update_or_create({"request": kept}, delivery_id=claim.row.id)
        if is_ours and due_at:
            log_failure(claim.row, claim.channel, result.error_message, due_at)
        if is_ours and conclusion.status is DeliveryStatus.FAILED:
            log_given_up(claim.row, claim.channel, result.error_message)
        if is_ours and conclusion.wait is None:
            await end_parts(claim.row, **outcome)
            is_failure = conclusion.status is DeliveryStatus.FAILED and result.is_receivers_fault
            if is_failure and (reason := await find_failure(claim.row, claim.channel)):
                told += await disable(claim.channel, reason, now)
        return told + await release_followers(claim.row, route.quiet_end(now) or now)


async def follow(channel: NotificationChannel, new_settings: Mapping[str, str], now: datetime) -> None:
    """Store the new values of a channel's settings that its receiver reported, in the caller's transaction.

    Does nothing if the channel lacks one of these settings. Also does nothing if the channel has been changed
    since it was read, because the response may have come from its former receiver.
    """
    if not new_settings or not new_settings.keys() <= channel.settings.keys():
        return
    settings = {**channel.settings, **new_settings}
    unchanged = NotificationChannel.filter(id=channel.id, updated_at=channel.updated_at)
    if await unchanged.update(settings=settings, updated_at=now):
        channel.settings, channel.updated_at = settings, now
