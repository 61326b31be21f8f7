"""Handlers of the API operations with the tag Incidents."""

from __future__ import annotations

from uuid import UUID

from monitoring.auth.callers import Caller
from monitoring.contract.cursors import decode_cursor
from monitoring.contract.document import Json
from monitoring.incidents import responding, service
from monitoring.incidents.representations import (
    represent_incident,
    represent_note,
    represent_notes,
    represent_page,
)
from monitoring.notifications.tasks import nudge
from monitoring.web.endpoint import ActOnce
from monitoring.web.replies import Reply


async def list_incidents(
    *,
    caller: Caller,
    limit: int,
    cursor: str | None = None,
    monitor_id: str | None = None,
    state: str | None = None,
) -> Reply:
    """Return a page of the team's incidents."""
    wanted_monitor_id = UUID(monitor_id) if monitor_id else None
    after_id = decode_cursor(cursor)
    page = await service.list_incidents(caller.team_id, wanted_monitor_id, state, limit, after_id)
    return Reply.tagged(represent_page(page))


async def get_incident(incident_id: str, caller: Caller) -> Reply:
    """Return one incident."""
    return Reply.tagged(represent_incident(await service.get_incident(caller.team_id, UUID(incident_id))))


async def acknowledge_incident(incident_id: str, caller: Caller, act_once: ActOnce) -> Reply:
    """Acknowledge an incident. After the commit, queue the sending of its notifications."""
    delivery_ids: list[UUID] = []

    async def acknowledge() -> Reply:
        incident, queued = await responding.acknowledge(caller.team_id, UUID(incident_id), caller.actor)
        delivery_ids.extend(queued)
        return Reply(represent_incident(incident))

    reply = await act_once(acknowledge)
    await nudge(delivery_ids)
    return reply


async def list_incident_notes(
    incident_id: str, *, caller: Caller, limit: int, cursor: str | None = None
) -> Reply:
    """Return a page of an incident's notes."""
    after_id = decode_cursor(cursor)
    page = await responding.list_notes(caller.team_id, UUID(incident_id), limit, after_id)
    return Reply(represent_notes(page))


async def create_incident_note(incident_id: str, body: Json, caller: Caller) -> Reply:
    """Add a note to an incident."""
    note = await responding.write_note(caller.team_id, UUID(incident_id), caller.actor, body["text"])
    return Reply(represent_note(note), 201)
