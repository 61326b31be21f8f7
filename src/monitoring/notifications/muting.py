"""Mutes monitors: channels are not notified about a muted monitor.

If a channel was notified of an incident before the mute, it is still notified of the incident's end.
Otherwise, a pager would alert forever.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from tortoise.expressions import Q

from monitoring.backends.database import transaction
from monitoring.notifications.models import DeliveryStatus, Mute, NotificationDelivery
from monitoring.notifications.retries import MUTED_BEFORE
from monitoring.notifications.routing import BEGINNINGS, Announcement

Mutes = Mapping[UUID | None, Collection[tuple[UUID, UUID | None]]]

# The maximum number of rows that one statement inserts or looks up.
PORTION = 500


async def store_mutes(
    team_id: UUID, monitor_ids: Sequence[UUID], until: datetime | None, by_name: str
) -> None:
    """Mute a team's monitors until `until`, or indefinitely if `until` is None. Replace earlier mutes."""
    async with transaction():
        await remove_mutes(team_id, monitor_ids)
        mutes = [
            Mute(team_id=team_id, monitor_id=monitor_id, muted_until=until, muted_by=by_name)
            for monitor_id in monitor_ids
        ]
        await Mute.bulk_create(mutes, batch_size=PORTION, ignore_conflicts=True)


async def skip_waiting(subject_ids: Sequence[UUID], until: datetime | None) -> None:
    """Skip held deliveries about muted monitors that have not been attempted, in the caller's transaction.

    `subject_ids` are the ids of the monitors and of their incidents. If `until` is not None, only deliveries
    that are due before `until` are skipped. The delivery about an incident's end is kept if the channel was
    already notified of the incident.
    """
    for start in range(0, len(subject_ids), PORTION):
        about = NotificationDelivery.filter(subject_id__in=subject_ids[start : start + PORTION])
        waiting = NotificationDelivery.filter(
            id__in=[each.id for each in await about.filter(status=DeliveryStatus.PENDING).only("id")],
            status=DeliveryStatus.PENDING,
            attempts=0,
            claim=None,
            digest_id=None,
            hold__isnull=False,
        )
        if until:
            waiting = waiting.filter(due_at__lt=until)
        found = await waiting.select_for_update().order_by("id")
        untold = {(each.channel_id, each.subject_id) for each in found if each.event not in BEGINNINGS}
        skipped = [each.id for each in found if (each.channel_id, each.subject_id) in untold]
        await NotificationDelivery.filter(id__in=skipped).update(
            status=DeliveryStatus.SKIPPED, due_at=None, error_message=MUTED_BEFORE
        )


async def remove_mutes(team_id: UUID, monitor_ids: Sequence[UUID]) -> list[UUID]:
    """Unmute a team's monitors, and return the ids of the monitors that had a mute."""
    unmuted: list[UUID] = []
    async with transaction():
        for start in range(0, len(monitor_ids), PORTION):
            portion = monitor_ids[start : start + PORTION]
            muted = Mute.filter(team_id=team_id, monitor_id__in=portion)
            unmuted += [mute.monitor_id for mute in await muted]
            await muted.delete()
    return unmuted


async def find_mute(monitor_id: UUID, now: datetime) -> Mute | None:
    """Return a monitor's current mute, or None if the monitor is not muted."""
    return await Mute.filter(_holds(now), monitor_id=monitor_id).first()


async def list_mutes(team_id: UUID) -> dict[UUID, datetime | None]:
    """Return the ends of a team's mutes by monitor id, including expired mutes. None means no end."""
    return dict(await Mute.filter(team_id=team_id).values_list("monitor_id", "muted_until"))


async def list_muted(monitor_ids: Sequence[UUID]) -> set[UUID]:
    """Return the ids of the monitors that are currently muted."""
    muted = Mute.filter(_holds(datetime.now(UTC)), monitor_id__in=list(monitor_ids))
    return {mute.monitor_id for mute in await muted}


def find_muted(mutes: Mapping[UUID, datetime | None], now: datetime) -> dict[UUID, datetime | None]:
    """Return the given mutes, leaving out those that have ended by `now`."""
    return {monitor_id: until for monitor_id, until in mutes.items() if until is None or until > now}


async def read_mutes(announcements: Collection[Announcement], now: datetime) -> Mutes:
    """Return the muted monitors that these events are about, each with a set of (channel, subject) pairs.

    A pair means that one of the events reports the end of the subject, such as an incident, and that the
    channel has a delivery about the subject's beginning.
    """
    about = {each.monitor_id for each in announcements if each.monitor_id}
    if not about:
        return {}
    mutes: dict[UUID | None, set[tuple[UUID, UUID | None]]] = {
        mute.monitor_id: set() for mute in await Mute.filter(_holds(now), monitor_id__in=list(about))
    }
    for each in announcements:
        beginning = BEGINNINGS.get(each.event)
        if each.monitor_id in mutes and beginning:
            told = await NotificationDelivery.filter(subject_id=each.subject_id, event=beginning)
            mutes[each.monitor_id] |= {(delivery.channel_id, each.subject_id) for delivery in told}
    return mutes


def bypasses_mute(announcement: Announcement, channel_id: UUID, mutes: Mutes) -> bool:
    """Return whether a channel receives an event despite mutes.

    This is true if the monitor is not muted, or if the event reports the end of an incident or degradation
    that the channel was notified of.
    """
    told = mutes.get(announcement.monitor_id)
    if told is None:
        return True
    return announcement.event in BEGINNINGS and (channel_id, announcement.subject_id) in told


def _holds(now: datetime) -> Q:
    return Q(muted_until=None) | Q(muted_until__gt=now)
