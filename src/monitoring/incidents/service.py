"""Opens, resolves and lists incidents. Opening and resolving run in the caller's transaction."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple
from uuid import UUID

from tortoise.functions import Count

from monitoring.backends.database import after_commit, transaction
from monitoring.backends.pages import Page, read_page
from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.incidents.models import Incident, IncidentState, Resolution
from monitoring.incidents.representations import represent_incident
from monitoring.notifications.announcing import announce
from monitoring.notifications.monitor_subjects import MonitorSubject, describe_monitor
from monitoring.notifications.routing import Announcement

# The most incidents that one SQL statement resolves. The statement contains each row's values twice, so it is
# slow for many rows.
UPDATED_AT_ONCE = 500

# The number of incidents within this time decides whether a monitor is flapping.
RECENT = timedelta(hours=1)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """An incident to open.

    The first check failed at `started_at`, and the failure was confirmed at `confirmed_at`.
    """

    monitor: MonitorSubject
    started_at: datetime
    confirmed_at: datetime
    error: str
    error_message: str
    answer: dict[str, Json] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """When and how a monitor's open incident ended, if it has one."""

    monitor: MonitorSubject
    resolved_at: datetime
    resolution: Resolution


class OpenIncident(NamedTuple):
    """An open incident's id, its monitor's id, and whether it is acknowledged."""

    id: UUID
    monitor_id: UUID
    is_acknowledged: bool


async def open_incidents(openings: Sequence[Opening]) -> list[UUID]:
    """Open incidents, and queue their notifications.

    A monitor that already has an open incident gets no second one, and no notifications. Returns the ids of
    the deliveries, which the caller passes to `nudge` after the commit.
    """
    if not openings:
        return []
    incidents = [
        Incident(
            team_id=each.monitor.team_id,
            monitor_id=each.monitor.id,
            started_at=each.started_at,
            confirmed_at=each.confirmed_at,
            error=each.error,
            error_message=each.error_message,
            answer=each.answer,
        )
        for each in openings
    ]
    async with transaction():
        await Incident.bulk_create(incidents, ignore_conflicts=True)
        ids = [incident.id for incident in incidents]
        opened = set(await Incident.filter(id__in=ids).values_list("id", flat=True))
        recent = await _count_recent(incidents)
        for each, incident in zip(openings, incidents, strict=True):
            if incident.id in opened:
                _log(incident, each.monitor, "opened", f"is down ({each.error}: {each.error_message})")
        return await announce(
            [
                announcement_of(
                    "incident.opened", each.confirmed_at, incident, each.monitor, recent[each.monitor.id]
                )
                for each, incident in zip(openings, incidents, strict=True)
                if incident.id in opened
            ]
        )


async def resolve_incidents(endings: Sequence[Ending]) -> list[UUID]:
    """Resolve the monitors' open incidents, and queue their notifications.

    Returns the ids of the deliveries, which the caller passes to `nudge` after the commit.
    """
    if not endings:
        return []
    endings_by_monitor = {each.monitor.id: each for each in endings}
    async with transaction():
        open_ones = Incident.filter(monitor_id__in=list(endings_by_monitor), resolved_at=None).order_by("id")
        incidents = await open_ones.select_for_update(no_key=True)
        for incident in incidents:
            ending = endings_by_monitor[incident.monitor_id]
            incident.resolved_at, incident.resolution = ending.resolved_at, ending.resolution
        if not incidents:
            return []
        await Incident.bulk_update(
            incidents, fields=("resolved_at", "resolution"), batch_size=UPDATED_AT_ONCE
        )
        recent = await _count_recent(incidents)
        for incident in incidents:
            ending = endings_by_monitor[incident.monitor_id]
            how = "recovered" if ending.resolution is Resolution.RECOVERED else f"was {ending.resolution}"
            _log(incident, ending.monitor, "resolved", how)
        return await announce(
            [
                announcement_of(
                    "incident.resolved",
                    ending.resolved_at,
                    incident,
                    ending.monitor,
                    recent[ending.monitor.id],
                )
                for incident in incidents
                for ending in [endings_by_monitor[incident.monitor_id]]
            ]
        )


async def resolve_incident(
    monitor: MonitorSubject, *, resolved_at: datetime, resolution: Resolution
) -> list[UUID]:
    """Resolve a monitor's open incident, if it has one.

    Returns the ids of the deliveries, as `resolve_incidents` does.
    """
    ending = Ending(monitor=monitor, resolved_at=resolved_at, resolution=resolution)
    return await resolve_incidents([ending])


async def list_incidents(
    team_id: UUID, monitor_id: UUID | None, state: str | None, limit: int, after_id: UUID | None
) -> Page[Incident]:
    """Return up to `limit` incidents of a team, newest first, starting after `after_id`."""
    incidents = Incident.filter(team_id=team_id)
    if monitor_id:
        incidents = incidents.filter(monitor_id=monitor_id)
    if state:
        incidents = incidents.filter(resolved_at__isnull=state == IncidentState.OPEN)
    return await read_page(incidents, limit, after_id)


async def list_open(team_id: UUID) -> list[OpenIncident]:
    """Return all open incidents of a team, in the order of `list_urgent`."""
    still_open = Incident.filter(team_id=team_id, resolved_at=None).order_by("-id")
    rows = await still_open.values_list("id", "monitor_id", "acknowledged_at")
    opened = [OpenIncident(id_, monitor_id, at is not None) for id_, monitor_id, at in rows]
    return sorted(opened, key=lambda incident: incident.is_acknowledged)


async def list_urgent(team_id: UUID, limit: int) -> list[Incident]:
    """Return up to `limit` open incidents: first the unacknowledged, then the others, each newest first."""
    still_open = Incident.filter(team_id=team_id, resolved_at=None).order_by("-id")
    waiting = await still_open.filter(acknowledged_at=None).limit(limit)
    taken = still_open.exclude(acknowledged_at=None).limit(limit - len(waiting))
    return [*waiting, *(await taken if len(waiting) < limit else [])]


async def count_open(team_id: UUID) -> tuple[int, int]:
    """Return the number of a team's open incidents, and how many of these are acknowledged."""
    still_open = Incident.filter(team_id=team_id, resolved_at=None)
    counted = still_open.annotate(count=Count("id"), acknowledged=Count("acknowledged_at"))
    [(count, acknowledged_count)] = await counted.values_list("count", "acknowledged")
    return count, acknowledged_count


async def get_incident(team_id: UUID, incident_id: UUID) -> Incident:
    """Return an incident of the team. Raises Problem if the team has no incident with this id."""
    incident = await Incident.get_or_none(id=incident_id, team_id=team_id)
    if incident is None:
        raise Problem("incident_not_found")
    return incident


def _log(incident: Incident, monitor: MonitorSubject, what: str, why: str) -> None:
    line = "Incident %s %s: the monitor %s (%s) %s"
    after_commit(partial(log.info, line, incident.id, what, monitor.name, monitor.id, why))


async def _count_recent(incidents: Sequence[Incident]) -> Counter[UUID]:
    """Return the number of recent incidents of each monitor in `incidents`, by monitor id.

    An incident is recent if it was confirmed within the hour before the latest confirmation in `incidents`,
    or after that confirmation.
    """
    monitor_ids = [incident.monitor_id for incident in incidents]
    since = max(incident.confirmed_at for incident in incidents) - RECENT
    recent = Incident.filter(monitor_id__in=monitor_ids, confirmed_at__gt=since)
    return Counter([incident.monitor_id for incident in await recent.only("monitor_id")])


def announcement_of(
    event: str,
    happened_at: datetime,
    incident: Incident,
    monitor: MonitorSubject,
    recent_incidents: int | None = None,
) -> Announcement:
    """Return the announcement of an incident's event, from which the channels' notifications are made."""
    subject: dict[str, Json] = {
        "incident": represent_incident(incident),
        "monitor": describe_monitor(monitor),
    }
    if recent_incidents is not None:
        subject["recent_incidents"] = recent_incidents
    return Announcement(
        team_id=monitor.team_id,
        event=event,
        happened_at=happened_at,
        subject=subject,
        subject_id=incident.id,
        monitor_id=monitor.id,
        tags=monitor.tags,
        recent_incidents=recent_incidents or 0,
    )
