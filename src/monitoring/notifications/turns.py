"""Which delivery is next: a server that never answers holds up only its own team."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tortoise.expressions import Q

from monitoring.backends.database import transaction
from monitoring.backends.leases import is_due, is_idle, take_idle
from monitoring.notifications.models import NotificationChannel, NotificationDelivery

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

# A server that never answers holds an attempt until its timeout. These bound how many of a process's
# attempts one channel, and one team, can hold that way. With two, a slow server gets its next notification
# without a pause.
MOST_AT_ONCE_A_CHANNEL = 2
MOST_AT_ONCE_A_TEAM = 5


async def has_room(channel: NotificationChannel, now: datetime) -> bool:
    """Say whether one more attempt may begin, while the caller locks the channel.

    The team is not locked, so that its channels do not wait for each other. When several of them are
    claimed for at once, the team may exceed its number a little.
    """
    sending = await _find_sending(await _find_channels(channel.team_id), now)
    return len(sending) < MOST_AT_ONCE_A_TEAM and sending.count(channel.id) < MOST_AT_ONCE_A_CHANNEL


async def call_next(team_id: UUID) -> list[UUID]:
    """Choose the delivery that has waited longest for a channel of the team with room, and make it due.

    It was never tried, or the time of its retry has come. Returns its id, for the caller to nudge.
    """
    now = datetime.now(UTC)
    async with transaction():
        channel_ids = await _find_channels(team_id)
        sending = await _find_sending(channel_ids, now)
        free = [each for each in channel_ids if sending.count(each) < MOST_AT_ONCE_A_CHANNEL]
        waiting = NotificationDelivery.filter(
            is_idle(now),
            Q(attempts=0, due_at__isnull=False, hold=None) | is_due(now),
            channel_id__in=free,
            claim=None,
        )
        called = await take_idle(waiting.order_by("id").limit(1), now)
        # What is due already stays due since then: a claim compares that with quiet hours.
        if called:
            await NotificationDelivery.filter(id__in=called, due_at__gt=now).update(due_at=now)
        return called


async def _find_channels(team_id: UUID) -> list[UUID]:
    return [channel.id for channel in await NotificationChannel.filter(team_id=team_id).only("id")]


async def _find_sending(channel_ids: Iterable[UUID], now: datetime) -> list[UUID]:
    """Return the channel of each delivery that is being sent to one of these channels."""
    sending = NotificationDelivery.filter(channel_id__in=channel_ids, claim__isnull=False, due_at__gt=now)
    return [delivery.channel_id for delivery in await sending.only("channel_id")]
