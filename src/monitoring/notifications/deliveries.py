"""The delivery log: what is to be sent to channels, and what became of it. Functions are transactions."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import orjson

from monitoring.backends.database import transaction
from monitoring.backends.pages import Page, read_page
from monitoring.backends.statements import is_postgres
from monitoring.contract.problems import Problem
from monitoring.contract.timestamps import write_timestamp
from monitoring.notifications.models import DeliveryStatus, NotificationChannel, NotificationDelivery
from monitoring.notifications.rules import CHANNEL_DISABLED
from monitoring.notifications.turns import MOST_AT_ONCE_A_CHANNEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import timedelta

    from tortoise.backends.base.client import BaseDBAsyncClient

    from monitoring.contract.document import Json

TEST_EVENT = "test"

# How often somebody who waits for an attempt looks for its end.
LOOK_AGAIN_SECONDS = 0.1

# How many rows one statement inserts. It stays far below the time limit of a statement.
INSERTED_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class Announcement:
    """An event that a team's channels are told about: what happened, when, and to which subject."""

    team_id: UUID
    event: str
    happened_at: datetime
    subject: Mapping[str, Json]


async def announce(announcements: Sequence[Announcement]) -> list[UUID]:
    """Queue each event for every channel of its team that wants it, within the caller's transaction.

    Returns deliveries for the caller to nudge after the commit (`tasks.nudge`): for each channel as many as
    may be sent to it at once. Attempts that end call the others.
    """
    async with transaction() as connection:
        channels = await _hold_channels(connection, {each.team_id for each in announcements})
        deliveries = [
            delivery
            for each in announcements
            for delivery in _make_deliveries(
                each, [channel_id for channel_id, events in channels[each.team_id] if each.event in events]
            )
        ]
        await NotificationDelivery.bulk_create(deliveries, batch_size=INSERTED_AT_ONCE)
    return _first_of_each_channel(deliveries)


async def queue_test(team_id: UUID, channel_id: UUID) -> NotificationDelivery:
    """Queue a test notification. Raises Problem if there is no such channel, or if it is disabled."""
    async with transaction():
        await _lock_channel(team_id, channel_id, absent="notification_channel_not_found")
        test = Announcement(team_id, TEST_EVENT, datetime.now(UTC), {})
        [delivery] = _make_deliveries(test, [channel_id])
        await delivery.save()
        return delivery


async def wait_for_attempt(delivery_id: UUID, patience: timedelta) -> NotificationDelivery | None:
    """Return a delivery once its first attempt has ended, or as it is when patience ends; None if it is gone.

    A worker makes the attempt, because API processes need no way out to strangers' servers.
    """
    until = time.monotonic() + patience.total_seconds()
    while True:
        delivery = await NotificationDelivery.get_or_none(id=delivery_id)
        if delivery is None or _was_tried(delivery) or time.monotonic() >= until:
            return delivery
        await asyncio.sleep(LOOK_AGAIN_SECONDS)


async def list_deliveries(
    channel: NotificationChannel, status: str | None, limit: int, after_id: UUID | None
) -> Page[NotificationDelivery]:
    """Return up to `limit` deliveries to a channel, newest first, from the one after `after_id` on."""
    deliveries = NotificationDelivery.filter(channel_id=channel.id)
    return await read_page(deliveries.filter(status=status) if status else deliveries, limit, after_id)


async def redeliver(team_id: UUID, channel_id: UUID, delivery_id: UUID) -> NotificationDelivery:
    """Make a delivery due, as if it had never been tried. Raises Problem as `queue_test` does.

    If an attempt is under way, it goes on, but its result is not stored. The next attempt begins when its
    lease has ended. So nothing is sent to a server twice at once, however often a client asks.
    """
    async with transaction():
        await _lock_channel(team_id, channel_id, absent="notification_delivery_not_found")
        deliveries = NotificationDelivery.select_for_update()
        delivery = await deliveries.get_or_none(id=delivery_id, channel_id=channel_id)
        if delivery is None:
            raise Problem("notification_delivery_not_found")
        now = datetime.now(UTC)
        if delivery.claim and delivery.due_at and delivery.due_at > now:
            delivery.claim = uuid4()  # a claim that nobody holds
        else:
            delivery.due_at, delivery.claim = now, None
        delivery.status, delivery.attempts = DeliveryStatus.PENDING, 0
        delivery.nudged_at = delivery.delivered_at = None
        delivery.status_code = delivery.error_message = None
        await delivery.save()
        return delivery


async def end_waiting_deliveries(channel_id: UUID) -> None:
    """Give up deliveries that wait for a disabled channel. Attempts under way find out by themselves."""
    await NotificationDelivery.filter(
        channel_id=channel_id, status=DeliveryStatus.PENDING, claim=None
    ).update(status=DeliveryStatus.FAILED, due_at=None, error_message=CHANNEL_DISABLED)


async def _hold_channels(
    connection: BaseDBAsyncClient, team_ids: Iterable[UUID]
) -> Mapping[UUID, list[tuple[UUID, list[str]]]]:
    """Find the enabled channels of teams, each with the events it wants, and lock them until the commit.

    The lock keeps them from being deleted, because rows will point to them. It is weaker than the weakest
    that Tortoise offers, so that announcements do not wait for each other.
    """
    if is_postgres(connection):
        # An array, because PostgreSQL expects a hundred rows of a set, and would read all channels for it.
        among = "= ANY (ARRAY(SELECT value::uuid FROM json_array_elements_text($1::json)))"
        lock = "FOR KEY SHARE"
    else:
        among, lock = "IN (SELECT value FROM json_each(?1))", ""
    rows = await connection.execute_query_dict(
        f"SELECT id, team_id, events FROM notification_channels WHERE team_id {among}"  # noqa: S608 - ours
        f" AND enabled ORDER BY id {lock}",
        [orjson.dumps([str(team_id) for team_id in team_ids]).decode()],
    )
    channels = defaultdict(list)
    for row in rows:
        channels[UUID(str(row["team_id"]))].append((UUID(str(row["id"])), orjson.loads(row["events"])))
    return channels


async def _lock_channel(team_id: UUID, channel_id: UUID, *, absent: str) -> None:
    """Lock an enabled channel until the transaction ends. Raises Problem: `absent`, or disabled."""
    locked = NotificationChannel.select_for_update(no_key=True)
    channel = await locked.get_or_none(id=channel_id, team_id=team_id)
    if channel is None:
        raise Problem(absent)
    if not channel.enabled:
        raise Problem("notification_channel_disabled")


def _was_tried(delivery: NotificationDelivery) -> bool:
    return delivery.status != DeliveryStatus.PENDING or delivery.error_message is not None


def _make_deliveries(announcement: Announcement, channel_ids: Iterable[UUID]) -> list[NotificationDelivery]:
    happened_at = announcement.happened_at
    message = {
        "type": announcement.event,
        "timestamp": write_timestamp(happened_at),
        "data": announcement.subject,
    }
    payload = orjson.dumps(message).decode()
    return [
        NotificationDelivery(
            channel_id=channel_id,
            event=announcement.event,
            payload=payload,
            status=DeliveryStatus.PENDING,
            due_at=happened_at,
            created_at=happened_at,
        )
        for channel_id in channel_ids
    ]


def _first_of_each_channel(deliveries: Iterable[NotificationDelivery]) -> list[UUID]:
    nudged: Counter[UUID] = Counter()
    chosen = []
    for delivery in deliveries:
        nudged[delivery.channel_id] += 1
        if nudged[delivery.channel_id] <= MOST_AT_ONCE_A_CHANNEL:
            chosen.append(delivery.id)
    return chosen
