"""The notification channels of the team."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.backends.database import transaction
from monitoring.notifications.deliveries import queue_test
from monitoring.notifications.email_consent import confirm
from monitoring.notifications.models import DeliveryStatus, NotificationChannel, NotificationDelivery
from monitoring.notifications.service import create_channel

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from monitoring.auth.models import Team

GONE = "Discord no longer knows this channel's address. Answered 404: Unknown Webhook"


async def make_channels(team: Team) -> dict[str, UUID]:
    """Make some that work, one that was disabled and one that waits. Return their ids by what they show."""
    chat = await create_channel(
        team.id, {"type": "slack", "name": "Ops", "url": "https://hooks.slack.com/services/T0/B0/a-secret"}
    )
    disabled = await create_channel(
        team.id, {"type": "discord", "name": "Old chat", "url": "https://discord.com/api/webhooks/1/a-secret"}
    )
    await NotificationChannel.filter(id=disabled.id).update(enabled=False, disabled_reason=GONE)
    await create_channel(team.id, {"type": "pagerduty", "name": "On call", "routing_key": "R" * 32})
    waits = await create_channel(team.id, {"type": "email", "address": "ops@acme.example"})
    mailbox = await create_channel(team.id, {"type": "email", "address": "dan.dimitrov@acme.example"})
    await confirm(mailbox)
    return {"chat": chat.id, "disabled": disabled.id, "waits": waits.id, "mailbox": mailbox.id}


async def make_delivery(team: Team, channel_id: UUID) -> UUID:
    """Make a test that failed for good, and return its id."""
    failed = {"status": DeliveryStatus.FAILED, "due_at": None, "attempts": 1, "error_message": GONE}
    async with transaction():  # before a worker sees it
        test = await queue_test(team.id, channel_id)
        await NotificationDelivery.filter(id=test.id).update(**failed)
    return test.id


async def find_email_token(write: Callable[[NotificationDelivery, str, str], str], channel_id: UUID) -> str:
    """Return the token of a link that an email to a channel came with."""
    delivery = await NotificationDelivery.filter(channel_id=channel_id).select_related("channel").first()
    assert delivery
    return write(delivery, delivery.channel.settings["address"], "").partition("token=")[2]
