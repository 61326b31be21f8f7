"""Handlers for the operations that the OpenAPI document tags with Maintenance."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from monitoring.auth.callers import Caller
from monitoring.by_key.placing import Conditions
from monitoring.by_key.replies import represent_placed
from monitoring.contract.cursors import decode_cursor
from monitoring.contract.document import Json
from monitoring.contract.entity_tags import version_of
from monitoring.monitors.maintenance import service
from monitoring.monitors.maintenance.models import MaintenanceWindow
from monitoring.monitors.maintenance.representations import represent_window, represent_windows
from monitoring.web.replies import Reply


async def list_maintenance_windows(*, caller: Caller, limit: int, cursor: str | None = None) -> Reply:
    """Return a page of the team's maintenance windows."""
    after_id = decode_cursor(cursor)
    page = await service.list_windows(caller.team_id, limit, after_id)
    return Reply.tagged(represent_windows(page, datetime.now(UTC)))


async def create_maintenance_window(body: Json, caller: Caller) -> Reply:
    """Create a window."""
    window = await service.create_window(caller.team_id, body, by=caller.actor)
    return _reply(window, 201, Location=f"/api/maintenance-windows/{window.id}")


async def put_maintenance_window_by_key(
    key: str, body: Json, caller: Caller, if_match: str | None = None, if_none_match: str | None = None
) -> Reply:
    """Create the maintenance window with this key, or replace its configuration."""
    conditions = Conditions(if_match, if_none_match)
    placed = await service.put_window(caller.team_id, key, body, conditions, by=caller.actor)
    location = f"/api/maintenance-windows/{placed.row.id}"
    return represent_placed(placed, "maintenance_window", _reply(placed.row), location)


async def get_maintenance_window(window_id: str, caller: Caller) -> Reply:
    """Return one window."""
    return _reply(await service.get_window(caller.team_id, UUID(window_id)))


async def update_maintenance_window(
    window_id: str, body: Json, caller: Caller, if_match: str | None = None
) -> Reply:
    """Change a window."""
    window = await service.update_window(caller.team_id, UUID(window_id), body, if_match, by=caller.actor)
    return _reply(window)


async def end_maintenance_window(window_id: str, caller: Caller, if_match: str | None = None) -> Reply:
    """End a window's current occurrence."""
    return _reply(await service.end_window(caller.team_id, UUID(window_id), if_match, by=caller.actor))


async def delete_maintenance_window(window_id: str, caller: Caller, if_match: str | None = None) -> Reply:
    """Delete a window."""
    await service.delete_window(caller.team_id, UUID(window_id), if_match, by=caller.actor)
    return Reply.empty()


def _reply(window: MaintenanceWindow, status: int = 200, **headers: str) -> Reply:
    body = represent_window(window, datetime.now(UTC))
    return Reply.tagged(body, status, headers, version=version_of(window.updated_at))
