"""Chooses the next delivery to send, so that an unresponsive server delays only its own team."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from tortoise.expressions import Q

from monitoring.backends import leases
from monitoring.backends.clock import TOLERANCE
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.leases import is_idle, take_idle
from monitoring.notifications.models import NotificationChannel, NotificationDelivery

# The longest time that a delivery can wait: a delay of one day, then one day of quiet hours that a daylight
# saving change makes an hour longer. Waits before retries are shorter.
LONGEST_WAIT = timedelta(days=2, hours=1)

# How long a claim on a delivery lasts: at least twice as long as the timeout of an attempt.
LEASE = timedelta(seconds=60)

# An unresponsive server keeps an attempt open until the attempt's timeout. These limits bound the number of
# open attempts per channel and per team. A channel may have two, so that a slow server gets the next
# notification without a pause.
MOST_AT_ONCE_A_CHANNEL = 2
MOST_AT_ONCE_A_TEAM = 5


def is_due(now: datetime) -> Q:
    """Match deliveries that a worker may claim.

    A delivery is also due if it was created, attempted or claimed by a machine whose clock was ahead. The due
    time alone does not reveal such an error, because a valid due time may be up to two days in the future.
    """
    soon = now + TOLERANCE
    is_misdated = (
        Q(attempted_at=None, created_at__gt=soon)
        | Q(attempted_at__gt=soon)
        | Q(claim__isnull=False, due_at__gt=soon + LEASE)
    )
    return leases.is_due(now, LONGEST_WAIT) | Q(is_misdated, due_at__gt=soon)


async def has_room(channel: NotificationChannel, now: datetime) -> bool:
    """Return whether the concurrency limits allow another attempt for a channel, which the caller has locked.

    The team is not locked, so that its channels do not block each other. If deliveries to several channels
    are claimed concurrently, the team's limit may therefore be slightly exceeded.
    """
    sending = await _find_sending(await _find_channels(channel.team_id), now)
    return len(sending) < MOST_AT_ONCE_A_TEAM and sending.count(channel.id) < MOST_AT_ONCE_A_CHANNEL


async def make_next_due(team_id: UUID) -> list[UUID]:
    """Make the oldest waiting delivery of the team's channels due, and return its id in a list.

    The delivery is chosen from those that are due, or that have no attempt and no hold. Channels at their
    concurrency limit are left out. If no delivery qualifies, the list is empty. The caller sends the delivery
    with `nudge`.
    """
    now = current_backends().clock.now()
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
        # A past `due_at` stays unchanged, because a claim compares it with quiet hours.
        if called:
            await NotificationDelivery.filter(id__in=called, due_at__gt=now).update(due_at=now)
        return called


async def _find_channels(team_id: UUID) -> list[UUID]:
    return [channel.id for channel in await NotificationChannel.filter(team_id=team_id).only("id")]


async def _find_sending(channel_ids: Iterable[UUID], now: datetime) -> list[UUID]:
    """Return the channel id of each delivery that is being sent to one of these channels, with duplicates."""
    claimed = NotificationDelivery.filter(channel_id__in=channel_ids, claim__isnull=False)
    sending = claimed.filter(due_at__gt=now, due_at__lte=now + LEASE + TOLERANCE)
    return [delivery.channel_id for delivery in await sending.only("channel_id")]
