"""The notification channels of the team."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.notifications.models import NotificationChannel
from monitoring.notifications.service import create_channel

if TYPE_CHECKING:
    from uuid import UUID

    from monitoring.auth.models import Team

GONE = "Discord no longer knows this channel's address. Answered 404: Unknown Webhook"


async def make_channels(team: Team) -> dict[str, UUID]:
    """Make one that works and one that was disabled. Return their ids by what they show."""
    chat = await create_channel(
        team.id, {"type": "slack", "name": "Ops", "url": "https://hooks.slack.com/services/T0/B0/a-secret"}
    )
    disabled = await create_channel(
        team.id, {"type": "discord", "name": "Old chat", "url": "https://discord.com/api/webhooks/1/a-secret"}
    )
    await NotificationChannel.filter(id=disabled.id).update(enabled=False, disabled_reason=GONE)
    await create_channel(team.id, {"type": "pagerduty", "name": "On call", "routing_key": "R" * 32})
    return {"chat": chat.id, "disabled": disabled.id}
