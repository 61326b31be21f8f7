"""Notifies each team once that this service was offline, even if many monitors and checkers notice it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from monitoring.notifications.announcing import announce
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.monitor_subjects import MonitorSubject
from monitoring.notifications.muting import list_muted
from monitoring.notifications.routing import INTERRUPTED, Announcement

# The minimum time between two notifications to the same team that this service was offline.
SHORTEST_DISTANCE = timedelta(hours=1)


class Interrupted(NamedTuple):
    """A monitor whose status has just become unknown, because this service was offline during the check.

    `seen_at` is when the previous check was made, or None if there was no previous check.
    """

    monitor: MonitorSubject
    checked_at: datetime
    seen_at: datetime | None


async def announce_interruptions(interrupted: Sequence[Interrupted]) -> list[UUID]:
    """Notify the teams of these monitors that this service was offline.

    A team is left out if it was already notified of this interruption, if its last notification is more
    recent than `SHORTEST_DISTANCE`, or if all of its monitors in `interrupted` are muted. Runs in the
    caller's transaction. Return the ids of the deliveries to send after the commit, with `nudge`.
    """
    muted = await list_muted([each.monitor.id for each in interrupted])
    by_team = defaultdict(list)
    for each in interrupted:
        if each.monitor.id not in muted:
            by_team[each.monitor.team_id].append(each)
    told = await _find_told(by_team)
    announcements = [
        Announcement(
            team_id=team_id,
            event=INTERRUPTED,
            happened_at=min(each.checked_at for each in those),
            subject={},
            subject_id=team_id,
        )
        for team_id, those in by_team.items()
        if any(_is_news(each, told.get(team_id)) for each in those)
    ]
    return await announce(announcements) if announcements else []


async def _find_told(team_ids: Collection[UUID]) -> dict[UUID, datetime]:
    """Return when each team was last notified that this service was offline.

    Lock the teams' channels, so that only one checker notifies a team.
    """
    locked = NotificationChannel.select_for_update(no_key=True).filter(team_id__in=list(team_ids))
    channel_ids = [channel.id for channel in await locked.order_by("id").only("id")]
    told = NotificationDelivery.filter(subject_id__in=list(team_ids), channel_id__in=channel_ids)
    return dict(await told.order_by("created_at").values_list("subject_id", "created_at"))


def _is_news(interrupted: Interrupted, told_at: datetime | None) -> bool:
    """Return whether to notify a team that was last notified of an interruption at `told_at`.

    The team is notified if `told_at` is None. It is also notified if the monitor was checked between
    `told_at` and this interruption, and `SHORTEST_DISTANCE` has passed since `told_at`.
    """
    if told_at is None:
        return True
    was_seen_since = interrupted.seen_at is not None and interrupted.seen_at > told_at
    return was_seen_since and interrupted.checked_at >= told_at + SHORTEST_DISTANCE
