"""Combines bursts of events into digests for channels that people read. A digest is a single message.

Channels that programs read, such as webhooks and pagers, get a separate message for each event.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import orjson
from tortoise.expressions import Q
from tortoise.queryset import QuerySet

from monitoring.backends.clock import TOLERANCE
from monitoring.backends.fields import first_uuid7_at
from monitoring.contract.timestamps import write_timestamp
from monitoring.notifications.models import DeliveryStatus, NotificationChannel, NotificationDelivery
from monitoring.notifications.routing import GATHERED, Announcement, Hold, Route, route_of
from monitoring.notifications.scheduling import is_due

DIGEST = "digest"

# More than MOST_BEFORE_A_STORM messages to one channel within STORM_TIME are a storm. The first
# MOST_BEFORE_A_STORM messages are sent immediately, and the others are combined at the end of STORM_TIME. If
# all messages of a storm arise at once after a quiet period, they are combined and sent immediately.
STORM_TIME = timedelta(seconds=60)
MOST_BEFORE_A_STORM = 3

# A monitor with more than MOST_BEFORE_FLAPPING incidents within an hour is flapping. Its incidents are then
# reported in a digest every FLAPPING_TIME, so a lasting outage is reported at most ten minutes late.
MOST_BEFORE_FLAPPING = 4
FLAPPING_TIME = timedelta(minutes=10)

MOST_IN_A_DIGEST = 500


class Queued(NamedTuple):
    """An unsaved delivery with its announcement and its channel's route."""

    announcement: Announcement
    route: Route
    delivery: NotificationDelivery


async def hold_back(queued: Iterable[Queued], now: datetime) -> None:
    """Postpone the new, unsaved deliveries that belong to a storm or to a flapping monitor."""
    by_channel = defaultdict(list)
    for each in queued:
        is_about_incident = each.announcement.event.startswith("incident.")
        if is_about_incident and each.route.is_read_by_people and each.delivery.hold is None:
            by_channel[each.route.channel_id].append(each)
    for channel_id, those in by_channel.items():
        flapping = [each for each in those if each.announcement.recent_incidents > MOST_BEFORE_FLAPPING]
        if flapping:
            until = await _find_shared_end(channel_id, Hold.FLAPPING, now) or now + FLAPPING_TIME
            _hold(flapping, Hold.FLAPPING, until)
        others = [each for each in those if each.delivery.hold is None]
        if others:
            await _hold_storm(channel_id, others, now)


def may_join_others(delivery: NotificationDelivery, channel: NotificationChannel) -> bool:
    """Return whether a delivery may be part of a digest.

    This is true if people read the channel, the delivery's hold is one of GATHERED, and no attempt has been
    made to send the delivery.
    """
    return delivery.hold in GATHERED and not delivery.attempts and route_of(channel).is_read_by_people


async def find_parts(
    delivery: NotificationDelivery, channel: NotificationChannel, now: datetime
) -> list[NotificationDelivery]:
    """Lock and return the other due deliveries that may be sent in one digest with `delivery`.

    Runs in the claim's transaction, which has locked the channel.
    """
    if not may_join_others(delivery, channel):
        return []
    waiting = _waiting_of(delivery.channel_id).filter(is_due(now)).exclude(id=delivery.id)
    return await waiting.select_for_update(skip_locked=True).order_by("id").limit(MOST_IN_A_DIGEST - 1)


async def merge_parts(
    delivery: NotificationDelivery, parts: Sequence[NotificationDelivery], now: datetime
) -> None:
    """Turn `delivery` into a digest that includes `parts`, unless `parts` is empty. The caller saves it."""
    if not parts:
        return
    in_order = sorted([delivery, *parts], key=lambda each: each.id)
    data = {"events": [orjson.loads(each.payload) for each in in_order]}
    digest = {"type": DIGEST, "timestamp": write_timestamp(now), "data": data}
    delivery.event, delivery.payload = DIGEST, orjson.dumps(digest).decode()
    await NotificationDelivery.filter(id__in=[each.id for each in parts]).update(
        digest_id=delivery.id, due_at=None
    )


async def end_parts(digest: NotificationDelivery, **result: object) -> None:
    """Store a digest's final result for each delivery that it includes."""
    if digest.event == DIGEST:
        await NotificationDelivery.filter(digest_id=digest.id, status=DeliveryStatus.PENDING).update(**result)


async def _hold_storm(channel_id: UUID, those: Iterable[Queued], now: datetime) -> None:
    those = list(those)
    lately = NotificationDelivery.filter(
        channel_id=channel_id, id__gte=first_uuid7_at(now - STORM_TIME), created_at__lte=now + TOLERANCE
    )
    # Deliveries that are held because of a delay, quiet hours or flapping do not count towards a storm.
    prompt = lately.filter(Q(hold=None) | Q(hold__in=[Hold.STORM, Hold.STORY]))
    about_incidents = prompt.filter(Q(event__startswith="incident.") | Q(event=DIGEST))
    recent = await about_incidents.order_by("id").limit(MOST_BEFORE_A_STORM)
    if len(recent) + len(those) <= MOST_BEFORE_A_STORM:
        return
    until = await _find_shared_end(channel_id, Hold.STORM, now)
    if until is None:
        until = max(recent[0].created_at + STORM_TIME, now) if recent else now
    _hold(those, Hold.STORM, until)


def _hold(those: Iterable[Queued], why: Hold, until: datetime) -> None:
    for each in those:
        each.delivery.hold, each.delivery.due_at = why, each.route.quiet_end(until) or until


async def _find_shared_end(channel_id: UUID, why: Hold, now: datetime) -> datetime | None:
    """Return the due time of the channel's newest delivery that waits because of the hold `why`, or None.

    Further deliveries get the same due time, so that one digest combines all of them.
    """
    since = first_uuid7_at(now - FLAPPING_TIME)
    waiting = _waiting_of(channel_id).filter(hold=why, due_at__gt=now, id__gte=since)
    newest = await waiting.filter(created_at__lte=now + TOLERANCE).order_by("-id").first()
    return newest.due_at if newest else None


def _waiting_of(channel_id: UUID) -> QuerySet[NotificationDelivery]:
    return NotificationDelivery.filter(
        channel_id=channel_id, status=DeliveryStatus.PENDING, attempts=0, claim=None, hold__in=list(GATHERED)
    )
