"""Mutes and unmutes monitors: each function is one transaction."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from uuid import UUID

from tortoise.expressions import Q

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.service import record_many
from monitoring.backends.database import transaction
from monitoring.contract.problems import Problem
from monitoring.incidents.models import Incident
from monitoring.monitors.service import name_monitors
from monitoring.notifications.models import Mute
from monitoring.notifications.muting import remove_mutes, skip_waiting, store_mutes
from monitoring.notifications.scheduling import LONGEST_WAIT


async def mute_monitor(team_id: UUID, monitor_id: UUID, duration_seconds: int | None, *, by: Actor) -> Mute:
    """Mute a monitor, and return the mute. Raises Problem if the team has no such monitor.

    If `duration_seconds` is None, the mute lasts until the monitor is unmuted.
    """
    now = datetime.now(UTC)
    until = None if duration_seconds is None else now + timedelta(seconds=duration_seconds)
    async with transaction():
        await mute_monitors(team_id, [monitor_id], until, now, by=by)
        mute = await Mute.get_or_none(team_id=team_id, monitor_id=monitor_id)
    if mute is None:
        raise Problem("monitor_not_found")
    return mute


async def unmute_monitor(team_id: UUID, monitor_id: UUID, *, by: Actor) -> None:
    """Unmute a monitor, if it is muted. Raises Problem if the team has no such monitor."""
    if not await unmute_monitors(team_id, [monitor_id], by=by):
        raise Problem("monitor_not_found")


async def mute_monitors(
    team_id: UUID, monitor_ids: Collection[UUID], until: datetime | None, now: datetime, *, by: Actor
) -> None:
    """Mute these monitors of the team until `until`, or until they are unmuted if `until` is None.

    Waiting deliveries that are due before the mute ends are skipped. Monitors of other teams are ignored.
    """
    async with transaction():
        names = await name_monitors(team_id, monitor_ids)
        await store_mutes(team_id, [*names], until, by.name)
        is_recent = Q(resolved_at=None) | Q(confirmed_at__gt=now - LONGEST_WAIT)
        incidents = Incident.filter(is_recent, monitor_id__in=[*names])
        incident_ids = [each.id for each in await incidents.only("id")] if names else []
        await skip_waiting([*names, *incident_ids], until)
        await record_many(team_id, by, Action.MONITOR_MUTED, names)


async def unmute_monitors(team_id: UUID, monitor_ids: Collection[UUID], *, by: Actor) -> Collection[UUID]:
    """Unmute these monitors. Return the ids of those that belong to the team, even if they were not muted."""
    async with transaction():
        names = await name_monitors(team_id, monitor_ids)
        unmuted = await remove_mutes(team_id, [*names])
        subjects = {monitor_id: names[monitor_id] for monitor_id in unmuted}
        await record_many(team_id, by, Action.MONITOR_UNMUTED, subjects)
        return names.keys()
