"""Handlers of the API operations with the tag Sandbox."""

from __future__ import annotations

from uuid import UUID

from monitoring.auth.callers import Caller
from monitoring.contract.document import Json
from monitoring.incidents.representations import represent_incident
from monitoring.notifications.tasks import nudge
from monitoring.sandbox import service
from monitoring.web.endpoint import ActOnce
from monitoring.web.replies import Reply


async def create_sandbox_incident(body: Json, caller: Caller, act_once: ActOnce) -> Reply:
    """Create an incident. After the commit, queue the sending of its notifications."""
    delivery_ids: list[UUID] = []

    async def create() -> Reply:
        monitor_id = UUID(body["monitor_id"])
        incident, queued = await service.make_incident(caller.team_id, monitor_id, by=caller.actor)
        delivery_ids.extend(queued)
        return Reply(represent_incident(incident), 201, {"Location": f"/api/incidents/{incident.id}"})

    reply = await act_once(create)
    await nudge(delivery_ids)
    return reply


async def reset_sandbox(caller: Caller) -> Reply:
    """Delete the sandbox's data."""
    await service.reset(caller.team_id, by=caller.actor)
    return Reply.empty()
