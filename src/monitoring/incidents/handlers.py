"""The operations of the Incidents tag."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from monitoring.contract.cursors import decode_cursor
from monitoring.contract.replies import Reply
from monitoring.incidents import service
from monitoring.incidents.representations import represent_incident, represent_page

if TYPE_CHECKING:
    from monitoring.auth.callers import Caller


async def list_incidents(
    *,
    caller: Caller,
    limit: int,
    cursor: str | None = None,
    monitor_id: str | None = None,
    state: str | None = None,
) -> Reply:
    """Answer a page of the team's incidents."""
    wanted_monitor_id = UUID(monitor_id) if monitor_id else None
    after_id = decode_cursor(cursor) if cursor else None
    page = await service.list_incidents(caller.team_id, wanted_monitor_id, state, limit, after_id)
    return Reply(represent_page(page))


async def get_incident(incident_id: str, caller: Caller) -> Reply:
    """Answer one incident."""
    return Reply(represent_incident(await service.get_incident(caller.team_id, UUID(incident_id))))
