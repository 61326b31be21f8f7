"""Orders deliveries: a channel's messages about the same incident are sent one at a time, in order.

Superseded messages are skipped, so that no retry reports an outage that is already over. Messages about a
monitor's degradations are ordered in the same way. Callers must have locked the channel's row, so that two
workers never handle the same messages concurrently.
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

# For each event, the pending events about the same subject that it supersedes.
_SUPERSEDED_BY: Mapping[str, Collection[str]] = {
    ACKNOWLEDGED: {REMINDER},
    "incident.resolved": {"incident.opened", ACKNOWLEDGED, REMINDER},
    "monitor.recovered": {"monitor.degraded"},
}
_ORDERED = {*_SUPERSEDED_BY, *BEGINNINGS.values(), REMINDER}

# The order of an incident's events. Timestamps are not used, because machines' clocks may differ.
_RANKS = {"incident.opened": 0, ACKNOWLEDGED: 1, REMINDER: 1, "incident.resolved": 2}

# How long a message waits while an earlier message is being sent. If the attempt to send the earlier message
# ends sooner, the wait ends too.
LOOK_AGAIN = timedelta(seconds=5)


class Blockers(NamedTuple):
    """The obstacles to sending due deliveries.

    `superseded` are deliveries to skip first, each with the event that supersedes it. `waits` contains the
    deliveries that must wait. It maps the id of each such delivery to the end of its wait.
    """

    superseded: Sequence[tuple[NotificationDelivery, str]]
    waits: Mapping[UUID, datetime]


class _Event(NamedTuple):
    """A delivery's event. `subject_id` is None if the event is not ordered."""

    name: str
    subject_id: UUID | None


# Maps each superseded event to the last delivery that supersedes it, and to the superseding event's name.
_Supersessions = dict[_Event, tuple[NotificationDelivery, str]]


async def find_blockers(wanted: Sequence[NotificationDelivery], now: datetime) -> Blockers:
    """Return which deliveries to skip before sending `wanted`, and which of `wanted` must wait.

    `wanted` are deliveries to one channel that would be sent as one message. A delivery to skip is either in
    `wanted` or is an earlier delivery.
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
        # If an earlier delivery is part of a digest, wait for the digest.
        earlier = {row.digest_id or row.id for row in before[each.subject_id] if _is_before(row, each)}
        standing = [waiting[row_id] for row_id in earlier if row_id in waiting]
        skipped = _find_superseded([row for row in standing if not _is_being_sent(row, now)], supersessions)
        superseded |= skipped
        ends = [_due_again_of(row, now) for row in standing if row.id not in skipped]
        if ends and each.id not in superseded:
            waits[each.id] = max(ends)
    return Blockers([*superseded.values()], waits)


async def skip_superseded(delivery: NotificationDelivery, because_of: str) -> str | None:
    """Skip a delivery, including all its parts if it is a digest, and return the reason that is stored.

    Returns None, and skips nothing, if another process has locked or changed the delivery since it was read.
    In that case, the delivery may still be sent, so later messages must wait.
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
    """Return whether a delivery reports the end of an incident or degradation that was never reported.

    This means that there are earlier messages about the subject, but none of them can have arrived.
    """
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
    """Set `due_at` of the deliveries that waited for `delivery`, and return their ids for sending."""
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
    """Return the channel's other pending deliveries about the subjects of `wanted`.

    If one of these deliveries is in a digest, deliveries about the digest's other subjects are included.
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
    """Return the ids of the incidents and monitors in these deliveries' ordered events."""
    return {event.subject_id for each in deliveries for event in _events_of(each) if event.subject_id}


def _events_of(delivery: NotificationDelivery) -> list[_Event]:
    """Return a delivery's events: several for a digest, otherwise one."""
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
    """Return when deliveries that wait for `delivery` are due: at its next attempt, or after LOOK_AGAIN."""
    soon = now + LOOK_AGAIN
    return soon if _is_being_sent(delivery, now) else max(delivery.due_at or soon, soon)


def _supersessions_in(deliveries: Iterable[NotificationDelivery]) -> _Supersessions:
    """Return the events that these deliveries supersede, each with the last delivery that supersedes it."""
    supersessions: _Supersessions = {}
    for each in sorted(deliveries, key=lambda delivery: delivery.id):
        for event in _events_of(each):
            for name in _SUPERSEDED_BY.get(event.name, ()):
                supersessions[_Event(name, event.subject_id)] = (each, event.name)
    return supersessions


def _is_before(one: NotificationDelivery, other: NotificationDelivery) -> bool:
    """Return whether `one` precedes `other`. Both must be about the same subject."""
    rank, other_rank = _RANKS.get(one.event), _RANKS.get(other.event)
    if rank is not None and other_rank is not None and rank != other_rank:
        return rank < other_rank
    return one.id < other.id


def _find_superseded(
    deliveries: Iterable[NotificationDelivery], supersessions: _Supersessions
) -> dict[UUID, tuple[NotificationDelivery, str]]:
    """Return the deliveries whose events are all superseded, each with one superseding event."""
    superseded = {}
    for each in deliveries:
        ended = [supersessions.get(event, (each, "")) for event in _events_of(each)]
        if all(_is_before(each, later) for later, _ in ended):
            superseded[each.id] = (each, ended[0][1])
    return superseded
