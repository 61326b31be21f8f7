"""What a channel is told of one incident is a story: a message waits until the one before it has ended.

A message that a later one makes needless is skipped, so that no retry tells of an outage that is over. The
degradations of a monitor are stories too. Callers hold the channel's row, so that two workers do not decide
about one story at once.
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
from monitoring.notifications.routing import ACKNOWLEDGED, BEGINNINGS, REMINDER, Hold
from monitoring.notifications.rules import say_why_needless

# What an event makes needless that waits in the same story.
_NEEDLESS_AFTER: Mapping[str, Collection[str]] = {
    ACKNOWLEDGED: {REMINDER},
    "incident.resolved": {"incident.opened", ACKNOWLEDGED, REMINDER},
    "monitor.recovered": {"monitor.degraded"},
}
_IN_STORIES = {*_NEEDLESS_AFTER, *BEGINNINGS.values(), REMINDER}

# Where an event stands in the story of an incident, whatever the clocks of those who announced them said.
_PLACES = {"incident.opened": 0, ACKNOWLEDGED: 1, REMINDER: 1, "incident.resolved": 2}

# How soon a message looks again at one that is being sent, unless the end of that attempt calls it first.
LOOK_AGAIN = timedelta(seconds=5)


class Turn(NamedTuple):
    """What stands before deliveries that are due.

    `needless` are to be skipped first, each because of a later event. `waits` says until when some wait.
    """

    needless: Sequence[tuple[NotificationDelivery, str]]
    waits: Mapping[UUID, datetime]


class _Event(NamedTuple):
    """An event that a delivery tells; without a subject if it belongs to no story."""

    name: str
    subject_id: UUID | None


# The last delivery that makes an event needless, and what it tells.
_Endings = dict[_Event, tuple[NotificationDelivery, str]]


async def find_turn(wanted: Sequence[NotificationDelivery], now: datetime) -> Turn:
    """Find what deliveries to one channel must wait for, and what to skip first.

    Several deliveries are sent as one message. What is needless may be one of them.
    """
    others = await _find_others(wanted)
    waiting = {each.id: each for each in others}
    before: dict[UUID | None, list[NotificationDelivery]] = defaultdict(list)
    for each in others:
        before[each.subject_id].append(each)
    needless = _find_needless(wanted, _endings_in(others))
    waits: dict[UUID, datetime] = {}
    endings = _endings_in([*wanted, *others])
    for each in wanted:
        # What a digest tells is sent with it.
        earlier = {row.digest_id or row.id for row in before[each.subject_id] if _is_before(row, each)}
        standing = [waiting[row_id] for row_id in earlier if row_id in waiting]
        skipped = _find_needless([row for row in standing if not _is_being_sent(row, now)], endings)
        needless |= skipped
        ends = [_end_of(row, now) for row in standing if row.id not in skipped]
        if ends and each.id not in needless:
            waits[each.id] = max(ends)
    return Turn([*needless.values()], waits)


async def skip_needless(delivery: NotificationDelivery, because_of: str) -> str | None:
    """Skip a delivery, with all that it tells if it is a digest, and return why.

    Returns None if somebody else is changing it, or has done so since it was read. It may then be sent again,
    so what follows it must wait.
    """
    reason = say_why_needless(
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
    """Say whether a delivery ends what its receiver cannot know of: everything before it was refused."""
    if delivery.event not in BEGINNINGS:
        return False
    before = NotificationDelivery.filter(
        channel_id=delivery.channel_id,
        subject_id=delivery.subject_id,
        event__in=_IN_STORIES,
    ).exclude(id=delivery.id)
    if delivery.event not in _PLACES:  # a monitor's story goes on after its end
        before = before.filter(id__lt=delivery.id)
    arrived = before.filter(Q(status=DeliveryStatus.DELIVERED) | Q(may_have_arrived=True))
    return await before.exists() and not await arrived.exists()


async def call_followers(delivery: NotificationDelivery, due_at: datetime) -> list[UUID]:
    """Make those deliveries due that waited for the end of an attempt at this one. Returns them to nudge."""
    subject_ids = _subjects_of([delivery])
    waiting = NotificationDelivery.filter(
        channel_id=delivery.channel_id,
        subject_id__in=list(subject_ids),
        hold=Hold.STORY,
        status=DeliveryStatus.PENDING,
        claim=None,
    )
    called = [each.id for each in await waiting.order_by("id").only("id")] if subject_ids else []
    if called:
        await waiting.filter(id__in=called).update(hold=None, due_at=due_at, nudged_at=None)
    return called


async def _find_others(wanted: Sequence[NotificationDelivery]) -> list[NotificationDelivery]:
    """Find what else waits or is being sent in the stories of deliveries to one channel.

    If a digest tells one of these, what waits in all its stories is there too.
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
        event__in=[*_IN_STORIES, DIGEST],
        status=DeliveryStatus.PENDING,
    )


def _subjects_of(deliveries: Iterable[NotificationDelivery]) -> set[UUID]:
    """Return the incidents and monitors whose stories these deliveries tell."""
    return {event.subject_id for each in deliveries for event in _events_of(each) if event.subject_id}


def _events_of(delivery: NotificationDelivery) -> list[_Event]:
    """Return what a delivery tells."""
    if delivery.event != DIGEST:
        return [_Event(delivery.event, delivery.subject_id if delivery.event in _IN_STORIES else None)]
    return [
        _Event(each["type"], _read_subject_id(each["data"]) if each["type"] in _IN_STORIES else None)
        for each in orjson.loads(delivery.payload)["data"]["events"]
    ]


def _read_subject_id(data: Mapping[str, Mapping[str, str]]) -> UUID:
    return UUID(data["incident" if "incident" in data else "monitor"]["id"])


def _is_being_sent(delivery: NotificationDelivery, now: datetime) -> bool:
    return delivery.claim is not None and delivery.due_at is not None and delivery.due_at > now


def _end_of(delivery: NotificationDelivery, now: datetime) -> datetime:
    """Say when to look again at what stands before another one: at its next attempt, or soon."""
    soon = now + LOOK_AGAIN
    return soon if _is_being_sent(delivery, now) else max(delivery.due_at or soon, soon)


def _endings_in(deliveries: Iterable[NotificationDelivery]) -> _Endings:
    """Find out which events these deliveries make needless."""
    endings: _Endings = {}
    for each in sorted(deliveries, key=lambda delivery: delivery.id):
        for event in _events_of(each):
            for name in _NEEDLESS_AFTER.get(event.name, ()):
                endings[_Event(name, event.subject_id)] = (each, event.name)
    return endings


def _is_before(one: NotificationDelivery, other: NotificationDelivery) -> bool:
    """Say whether one delivery of a story comes before another."""
    place, other_place = _PLACES.get(one.event), _PLACES.get(other.event)
    if place is not None and other_place is not None and place != other_place:
        return place < other_place
    return one.id < other.id


def _find_needless(
    deliveries: Iterable[NotificationDelivery], endings: _Endings
) -> dict[UUID, tuple[NotificationDelivery, str]]:
    """Return those of which later deliveries make everything needless, each with one of these events."""
    needless = {}
    for each in deliveries:
        ended = [endings.get(event, (each, "")) for event in _events_of(each)]
        if all(_is_before(each, later) for later, _ in ended):
            needless[each.id] = (each, ended[0][1])
    return needless
