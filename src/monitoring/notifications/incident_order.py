"""Ordered delivery: a channel's messages about one incident are sent one after the other.

A message that a later one supersedes is skipped, so that no retry reports an outage that is over. The
degradations of a monitor are ordered too. Callers have locked the channel's row, so that two workers never
decide about the same messages at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import orjson
from tortoise.expressions import Q

from monitoring.notifications.grouping import DIGEST, end_parts
from monitoring.notifications.models import DeliveryStatus, NotificationDelivery
from monitoring.notifications.retries import explain_superseded
from monitoring.notifications.routing import ACKNOWLEDGED, BEGINNINGS, REMINDER, Hold

# Which pending events about the same subject an event supersedes.
_SUPERSEDED_BY: Mapping[str, Collection[str]] = {
    ACKNOWLEDGED: {REMINDER},
    "incident.resolved": {"incident.opened", ACKNOWLEDGED, REMINDER},
    "monitor.recovered": {"monitor.degraded"},
}
_ORDERED = {*_SUPERSEDED_BY, *BEGINNINGS.values(), REMINDER}

# The order of an incident's events, whatever the clocks of the processes that announced them said.
_RANKS = {"incident.opened": 0, ACKNOWLEDGED: 1, REMINDER: 1, "incident.resolved": 2}

# How soon a message is due again that waits for one being sent, unless the end of that attempt releases it.
LOOK_AGAIN = timedelta(seconds=5)


class Blockers(NamedTuple):
    """What has to happen before deliveries that are due.

    `superseded` are to be skipped first, each because of a later event. `waits` is until when some must wait.
    """

    superseded: Sequence[tuple[NotificationDelivery, str]]
    waits: Mapping[UUID, datetime]


class _Event(NamedTuple):
    """An event of a delivery; without a subject if its order does not matter."""

    name: str
    subject_id: UUID | None


# By superseded event: the last delivery that supersedes it, and that delivery's event.
_Supersessions = dict[_Event, tuple[NotificationDelivery, str]]


async def find_blockers(wanted: Sequence[NotificationDelivery], now: datetime) -> Blockers:
    """Find what deliveries to one channel must wait for, and which deliveries to skip first.

    The given deliveries are to be sent as one message. Superseded ones may be among them.
    """
    others = await _find_others(wanted)
    waiting = {each.id: each for each in others}
    before: dict[UUID | None, list[NotificationDelivery]] = defaultdict(list)
    for each in others:
        before[each.subject_id].append(each)
    superseded = _find_superseded(wanted, _supersessions_in(others))
    waits: dict[UUID, datetime] = {}
    supersessions = _supersessions_in([*wanted, *others])
    for each in wanted:
        # Deliveries in a digest are sent with it.
        earlier = {row.digest_id or row.id for row in before[each.subject_id] if _is_before(row, each)}
        standing = [waiting[row_id] for row_id in earlier if row_id in waiting]
        skipped = _find_superseded([row for row in standing if not _is_being_sent(row, now)], supersessions)
        superseded |= skipped
        ends = [_due_again_of(row, now) for row in standing if row.id not in skipped]
        if ends and each.id not in superseded:
            waits[each.id] = max(ends)
    return Blockers([*superseded.values()], waits)


async def skip_superseded(delivery: NotificationDelivery, because_of: str) -> str | None:
    """Skip a delivery, with its parts if it is a digest, and return the reason.

    Returns None if another process is changing it, or has changed it since it was read. It may then be sent
    again, so later messages must wait.
    """
    reason = explain_superseded(
        because_of,
        delivery.attempts,
        delivery.error_message,
        may_have_arrived=delivery.may_have_arrived,
    )
    result = {"status": DeliveryStatus.SKIPPED, "error_message": reason}
    as_seen = NotificationDelivery.filter(id=delivery.id, status=DeliveryStatus.PENDING, claim=delivery.claim)
    if not await as_seen.select_for_update(skip_locked=True).only("id"):
        return None
    await as_seen.update(**result, due_at=None, claim=None)
    await end_parts(delivery, **result)
    return reason


async def is_end_of_nothing(delivery: NotificationDelivery) -> bool:
    """Return whether a delivery ends an incident of which the receiver refused every message."""
    if delivery.event not in BEGINNINGS:
        return False
    before = NotificationDelivery.filter(
        channel_id=delivery.channel_id,
        subject_id=delivery.subject_id,
        event__in=_ORDERED,
    ).exclude(id=delivery.id)
    if delivery.event not in _RANKS:  # a monitor can degrade again after its recovery
        before = before.filter(id__lt=delivery.id)
    arrived = before.filter(Q(status=DeliveryStatus.DELIVERED) | Q(may_have_arrived=True))
    return await before.exists() and not await arrived.exists()


async def release_followers(delivery: NotificationDelivery, due_at: datetime) -> list[UUID]:
    """Make deliveries due that waited for the end of an attempt at this one. Returns them to nudge."""
    subject_ids = _subjects_of([delivery])
    waiting = NotificationDelivery.filter(
        channel_id=delivery.channel_id,
        subject_id__in=list(subject_ids),
        hold=Hold.STORY,
        status=DeliveryStatus.PENDING,
        claim=None,
    )
    released = [each.id for each in await waiting.order_by("id").only("id")] if subject_ids else []
    if released:
        await waiting.filter(id__in=released).update(hold=None, due_at=due_at, nudged_at=None)
    return released


async def _find_others(wanted: Sequence[NotificationDelivery]) -> list[NotificationDelivery]:
    """Find the other pending deliveries about the subjects of deliveries to one channel.

    If one of them is part of a digest, pending deliveries about all the digest's subjects are included.
    """
    found = await _find_pending(wanted, _subjects_of(wanted))
    digest_ids = {each.digest_id for each in found} | {each.id for each in found if each.event == DIGEST}
    digests = await NotificationDelivery.filter(
        id__in=[each for each in digest_ids if each], status=DeliveryStatus.PENDING
    )
    if digests:
        found += await _find_pending(wanted, _subjects_of(digests))
    inside = {each.id for each in wanted}
    return [
        *{
            each.id: each
            for each in (*found, *digests)
            if each.id not in inside and each.digest_id not in inside
        }.values()
    ]


async def _find_pending(
    wanted: Sequence[NotificationDelivery], subject_ids: Collection[UUID]
) -> list[NotificationDelivery]:
    if not subject_ids:
        return []
    return await NotificationDelivery.filter(
        channel_id=wanted[0].channel_id,
        subject_id__in=list(subject_ids),
        event__in=[*_ORDERED, DIGEST],
        status=DeliveryStatus.PENDING,
    )


def _subjects_of(deliveries: Iterable[NotificationDelivery]) -> set[UUID]:
    """Return the incidents and monitors that these deliveries are about."""
    return {event.subject_id for each in deliveries for event in _events_of(each) if event.subject_id}


def _events_of(delivery: NotificationDelivery) -> list[_Event]:
    """Return the events of a delivery: several if it is a digest."""
    if delivery.event != DIGEST:
        return [_Event(delivery.event, delivery.subject_id if delivery.event in _ORDERED else None)]
    return [
        _Event(each["type"], _read_subject_id(each["data"]) if each["type"] in _ORDERED else None)
        for each in orjson.loads(delivery.payload)["data"]["events"]
    ]


def _read_subject_id(data: Mapping[str, Mapping[str, str]]) -> UUID:
    return UUID(data["incident" if "incident" in data else "monitor"]["id"])


def _is_being_sent(delivery: NotificationDelivery, now: datetime) -> bool:
    return delivery.claim is not None and delivery.due_at is not None and delivery.due_at > now


def _due_again_of(delivery: NotificationDelivery, now: datetime) -> datetime:
    """Return when a delivery that waits for this one is due again: at the next attempt, or soon."""
    soon = now + LOOK_AGAIN
    return soon if _is_being_sent(delivery, now) else max(delivery.due_at or soon, soon)


def _supersessions_in(deliveries: Iterable[NotificationDelivery]) -> _Supersessions:
    """Find the events that these deliveries supersede."""
    supersessions: _Supersessions = {}
    for each in sorted(deliveries, key=lambda delivery: delivery.id):
        for event in _events_of(each):
            for name in _SUPERSEDED_BY.get(event.name, ()):
                supersessions[_Event(name, event.subject_id)] = (each, event.name)
    return supersessions


def _is_before(one: NotificationDelivery, other: NotificationDelivery) -> bool:
    """Return whether one delivery about a subject comes before another."""
    rank, other_rank = _RANKS.get(one.event), _RANKS.get(other.event)
    if rank is not None and other_rank is not None and rank != other_rank:
        return rank < other_rank
    return one.id < other.id


def _find_superseded(
    deliveries: Iterable[NotificationDelivery], supersessions: _Supersessions
) -> dict[UUID, tuple[NotificationDelivery, str]]:
    """Return the deliveries all of whose events are superseded, each with one superseding event."""
    superseded = {}
    for each in deliveries:
        ended = [supersessions.get(event, (each, "")) for event in _events_of(each)]
        if all(_is_before(each, later) for later, _ in ended):
            superseded[each.id] = (each, ended[0][1])
    return superseded
