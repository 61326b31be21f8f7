"""Asks the reader of an email address to confirm it before any other message is sent to this address."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from monitoring.auth.limits import demand_room
from monitoring.auth.models import Team
from monitoring.backends.current import current_backends
from monitoring.notifications.announcing import make_delivery
from monitoring.notifications.models import CONFIRMATION, NotificationChannel
from monitoring.notifications.routing import Announcement

# A team's rate limit is this number times the rate limit for one email address.
ADDRESSES_OF_A_TEAM = 4


async def ask_reader(channel: NotificationChannel) -> None:
    """Queue a confirmation request, in the caller's transaction. Raises `Problem("rate_limited")`.

    No task is queued for the delivery, because the sweep finds the delivery within seconds.
    """
    await count_question(channel)
    team = await Team.get(id=channel.team_id)
    # The message contains no text by members, because they could use it to send spam to any email address.
    # The operator chooses the team's name.
    subject = {"address": channel.settings["address"], "team": team.name}
    now = current_backends().clock.now()
    asked = Announcement(team_id=team.id, event=CONFIRMATION, happened_at=now, subject=subject)
    await make_delivery(asked, channel.id).save()


async def count_question(channel: NotificationChannel) -> None:
    """Count a confirmation request against the rate limits. Raises `Problem("rate_limited")`."""
    await count_unrequested(channel.team_id, channel.settings["address"])


async def count_unrequested(team_id: UUID, address: str) -> None:
    """Count a message that its reader has not requested. Raises `Problem("rate_limited")`.

    Each team has its own limits, so that no team can exhaust another team's limits.
    """
    of_address = current_backends().settings.rate_limit_confirmations
    of_team = replace(of_address, name="confirmations_of_team", limit=ADDRESSES_OF_A_TEAM * of_address.limit)
    await demand_room(of_address, f"{team_id}:{address.lower()}")
    await demand_room(of_team, str(team_id))
