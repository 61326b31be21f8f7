"""Asks the reader of an email address for consent before anything else is sent there."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from monitoring.auth.limits import demand_room
from monitoring.auth.models import Team
from monitoring.backends.current import current_backends
from monitoring.notifications.announcing import make_delivery
from monitoring.notifications.models import CONFIRMATION, NotificationChannel
from monitoring.notifications.routing import Announcement

# The most addresses that a team can have asked within the window of one address's limit.
ADDRESSES_OF_A_TEAM = 4


async def ask_reader(channel: NotificationChannel) -> None:
    """Queue the confirmation request, in the caller's transaction. Raises Problem if there were too many.

    No worker is nudged: the sweep finds it within seconds.
    """
    await count_question(channel)
    team = await Team.get(id=channel.team_id)
    # No text of members, who could have it sent to anybody. The operator chooses a team's name.
    subject = {"address": channel.settings["address"], "team": team.name}
    now = current_backends().clock.now()
    asked = Announcement(team_id=team.id, event=CONFIRMATION, happened_at=now, subject=subject)
    await make_delivery(asked, channel.id).save()


async def count_question(channel: NotificationChannel) -> None:
    """Count a confirmation request. Raises `Problem("rate_limited")`."""
    await count_unrequested(channel.team_id, channel.settings["address"])


async def count_unrequested(team_id: UUID, address: str) -> None:
    """Count a message to an address that did not ask for it. Raises `Problem("rate_limited")`.

    Each team has its own count, so that no team can use up another's.
    """
    of_address = current_backends().settings.rate_limit_confirmations
    of_team = replace(of_address, name="confirmations_of_team", limit=ADDRESSES_OF_A_TEAM * of_address.limit)
    await demand_room(of_address, f"{team_id}:{address.lower()}")
    await demand_room(of_team, str(team_id))
