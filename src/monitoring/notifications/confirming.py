"""Whoever reads an email address is asked before anything else is sent there."""

from __future__ import annotations

from dataclasses import replace

from monitoring.auth.limits import demand_room
from monitoring.auth.models import Team
from monitoring.backends.current import current_backends
from monitoring.notifications.announcing import make_delivery
from monitoring.notifications.models import CONFIRMATION, NotificationChannel
from monitoring.notifications.routing import Announcement

# For how many addresses at most a team's members can have questions sent, in the time of one address's limit.
ADDRESSES_OF_A_TEAM = 4


async def ask_reader(channel: NotificationChannel) -> None:
    """Queue the message with the link, in the caller's transaction. Raises Problem if there were too many.

    Nobody is nudged: the sweep finds it within seconds.
    """
    await count_question(channel)
    team = await Team.get(id=channel.team_id)
    # No text of members: they could have it sent to any stranger. A team's name is the operator's.
    subject = {"address": channel.settings["address"], "team": team.name}
    now = current_backends().clock.now()
    asked = Announcement(team_id=team.id, event=CONFIRMATION, happened_at=now, subject=subject)
    await make_delivery(asked, channel.id).save()


async def count_question(channel: NotificationChannel) -> None:
    """Count one more message to an address that did not ask for it. Raises `Problem("rate_limited")`.

    It counts for this team alone, so that no other can use up what an address may be sent.
    """
    of_address = current_backends().settings.rate_limit_confirmations
    of_team = replace(of_address, name="confirmations_of_team", limit=ADDRESSES_OF_A_TEAM * of_address.limit)
    await demand_room(of_address, f"{channel.team_id}:{channel.settings['address'].lower()}")
    await demand_room(of_team, str(channel.team_id))
