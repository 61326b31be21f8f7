"""What users do about an incident: acknowledge it, send its alert at once, and add notes."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.service import record
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.pages import Page, read_page
from monitoring.contract.problems import Problem
from monitoring.incidents.models import MAX_AUTHOR_CHARACTERS, Incident, IncidentNote
from monitoring.incidents.service import announcement_of, get_incident
from monitoring.notifications.announcing import announce
from monitoring.notifications.deliveries import is_somebody_told, list_deliveries_about
from monitoring.notifications.monitor_subjects import find_monitor
from monitoring.notifications.routing import ACKNOWLEDGED

MAX_NOTES = 500


async def acknowledge(team_id: UUID, incident_id: UUID, actor: Actor) -> tuple[Incident, list[UUID]]:
    """Acknowledge an open incident, and queue the notifications. A second acknowledgement changes nothing.

    Returns the incident, and the ids of the deliveries, which the caller passes to `nudge` after the commit.
    Raises Problem if the team has no such incident, or if it was resolved without an acknowledgement.
    """
    async with transaction():
        locked = Incident.select_for_update(no_key=True)
        incident = await locked.get_or_none(id=incident_id, team_id=team_id)
        if incident is None:
            raise Problem("incident_not_found")
        if incident.acknowledged_at:
            return incident, []
        if incident.resolved_at:
            raise Problem("incident_resolved")
        now = current_backends().clock.now()
        incident.acknowledged_at, incident.acknowledged_by = now, actor.name[:MAX_AUTHOR_CHARACTERS]
        await incident.save(update_fields=("acknowledged_at", "acknowledged_by"))
        monitor = await find_monitor(team_id, incident.monitor_id)
        name = monitor.name if monitor else ""
        await record(team_id, actor, Action.INCIDENT_ACKNOWLEDGED, name, incident.id)
        told = await announce([announcement_of(ACKNOWLEDGED, now, incident, monitor)]) if monitor else []
        return incident, told


async def tell_now(team_id: UUID, incident_id: UUID, actor: Actor) -> list[UUID]:
    """Queue an open incident's alert for the current channels, if nobody was notified of the incident.

    The alert ignores the channels' delays and quiet hours. Returns the ids of the deliveries, which the
    caller passes to `nudge` after the commit. The list is empty if somebody was notified of the incident, if
    the incident is acknowledged, or if no channel gets the alert. Raises Problem if the team has no such
    incident, or if the incident is resolved.
    """
    async with transaction():
        locked = Incident.select_for_update(no_key=True)
        incident = await locked.get_or_none(id=incident_id, team_id=team_id)
        if incident is None:
            raise Problem("incident_not_found")
        if incident.resolved_at:
            raise Problem("incident_resolved")
        monitor = await find_monitor(team_id, incident.monitor_id)
        if monitor is None or incident.acknowledged_at:
            return []
        if is_somebody_told(await list_deliveries_about(team_id, incident.id)):
            return []
        now = current_backends().clock.now()
        told = await announce([announcement_of("incident.opened", now, incident, monitor)], at_once=True)
        if told:
            await record(team_id, actor, Action.INCIDENT_TOLD, monitor.name, incident.id)
        return told


async def write_note(team_id: UUID, incident_id: UUID, actor: Actor, text: str) -> IncidentNote:
    """Add a note to an incident. Raises Problem for an unknown incident, or if it has `MAX_NOTES` notes."""
    async with transaction():
        locked = Incident.select_for_update(no_key=True)
        incident = await locked.get_or_none(id=incident_id, team_id=team_id)
        if incident is None:
            raise Problem("incident_not_found")
        if await IncidentNote.filter(incident_id=incident.id).count() >= MAX_NOTES:
            raise Problem("incident_note_limit_reached")
        note = await IncidentNote.create(
            incident_id=incident.id,
            author=actor.name[:MAX_AUTHOR_CHARACTERS],
            text=text,
            created_at=datetime.now(UTC),
        )
        monitor = await find_monitor(team_id, incident.monitor_id)
        name = monitor.name if monitor else ""
        await record(team_id, actor, Action.INCIDENT_NOTED, name, incident.id)
        return note


async def list_notes(
    team_id: UUID, incident_id: UUID, limit: int, after_id: UUID | None
) -> Page[IncidentNote]:
    """Return up to `limit` notes of an incident, newest first, starting after `after_id`.

    Raises Problem for an unknown incident.
    """
    incident = await get_incident(team_id, incident_id)
    return await read_page(IncidentNote.filter(incident_id=incident.id), limit, after_id)
