"""Queues events for a team's channels, and decides which channels receive each event, and when."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

import orjson
from tortoise.backends.base.client import BaseDBAsyncClient

from monitoring.auth.models import Team
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.fields import read_id
from monitoring.contract.timestamps import write_timestamp
from monitoring.notifications.channel_delays import end_delays
from monitoring.notifications.configuration import complete_routing
from monitoring.notifications.grouping import Queued, hold_back
from monitoring.notifications.models import DeliveryStatus, NotificationDelivery
from monitoring.notifications.muting import bypasses_mute, read_mutes
from monitoring.notifications.queries import hold_channels
from monitoring.notifications.routing import BEGINNINGS, Announcement, Hold, Route
from monitoring.notifications.scheduling import MOST_AT_ONCE_A_CHANNEL

# The number of rows in one INSERT statement. Such a statement finishes well within the statement timeout.
INSERTED_AT_ONCE = 2000


async def announce(announcements: Sequence[Announcement], *, at_once: bool = False) -> list[UUID]:
    """Queue each event for every channel of its team that subscribes to it, within the caller's transaction.

    Each message names the team, because several teams may use the same email address or URL. Set `at_once`
    for events that a person requested. Such events bypass the channel's delay, quiet hours and digests.

    Returns the ids of the deliveries to send with `tasks.nudge` after the commit. For each channel, the list
    has only as many deliveries as may be sent concurrently. Whenever an attempt finishes, the channel's next
    delivery is started. The sweep starts deliveries that are due later.
    """
    now = current_backends().clock.now()
    async with transaction() as connection:
        team_ids = {each.team_id for each in announcements}
        names = dict(await Team.filter(id__in=team_ids).values_list("id", "name"))
        routes = await _hold_routes(connection, team_ids)
        never_told = await end_delays(announcements, routes)
        muted = await read_mutes(announcements, now)
        queued = [
            Queued(each, route, _make_delivery(each, route, names[each.team_id]))
            for each in announcements
            for route in routes[each.team_id]
            if route.leads(each)
            and bypasses_mute(each, route.channel_id, muted)
            and not (each.event in BEGINNINGS and (route.channel_id, each.subject_id) in never_told)
        ]
        if not at_once:
            for each in queued:
                _wait_as_configured(each)
            await hold_back(queued, now)
        deliveries = [each.delivery for each in queued]
        await NotificationDelivery.bulk_create(deliveries, batch_size=INSERTED_AT_ONCE)
    return _first_of_each_channel(each for each in deliveries if each.hold is None or _is_due(each, now))


def make_delivery(announcement: Announcement, channel_id: UUID) -> NotificationDelivery:
    """Return a new, unsaved delivery of an event to a channel, due immediately."""
    happened_at = announcement.happened_at
    message = {
        "type": announcement.event,
        "timestamp": write_timestamp(happened_at),
        "data": announcement.subject,
    }
    return NotificationDelivery(
        channel_id=channel_id,
        event=announcement.event,
        subject_id=announcement.subject_id,
        payload=orjson.dumps(message).decode(),
        status=DeliveryStatus.PENDING,
        due_at=happened_at,
        created_at=happened_at,
    )


def _make_delivery(announcement: Announcement, route: Route, team_name: str) -> NotificationDelivery:
    told = replace(announcement, subject={**announcement.subject, "team": team_name})
    return make_delivery(told, route.channel_id)


def _wait_as_configured(queued: Queued) -> None:
    """Postpone a delivery according to its channel's delay and quiet hours, if the channel has any."""
    announcement, route, delivery = queued
    happened_at = announcement.happened_at
    if delay := route.delay_of(announcement.event):
        delivery.hold, delivery.due_at = Hold.DELAY, happened_at + delay
    if quiet_end := route.quiet_end(happened_at + delay):
        delivery.hold, delivery.due_at = delivery.hold or Hold.QUIET, quiet_end


async def _hold_routes(connection: BaseDBAsyncClient, team_ids: Iterable[UUID]) -> Mapping[UUID, list[Route]]:
    """Lock the teams' enabled, confirmed channels until the commit, and return their routes by team id."""
    routes = defaultdict(list)
    for row in await hold_channels(connection, team_ids):
        route = Route(
            channel_id=read_id(row["id"]),
            type=row["type"],
            events=orjson.loads(row["events"]),
            routing=complete_routing(orjson.loads(row["settings"]))["routing"],
        )
        routes[read_id(row["team_id"])].append(route)
    return routes


def _is_due(delivery: NotificationDelivery, now: datetime) -> bool:
    return delivery.due_at is not None and delivery.due_at <= now


def _first_of_each_channel(deliveries: Iterable[NotificationDelivery]) -> list[UUID]:
    nudged: Counter[UUID] = Counter()
    chosen = []
    for delivery in deliveries:
        nudged[delivery.channel_id] += 1
        if nudged[delivery.channel_id] <= MOST_AT_ONCE_A_CHANNEL:
            chosen.append(delivery.id)
    return chosen
