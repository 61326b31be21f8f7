"""Handlers for the operations that the OpenAPI document tags with Monitors."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from monitoring.auth.callers import Caller
from monitoring.by_key.placing import Conditions
from monitoring.by_key.replies import represent_placed
from monitoring.contract.cursors import decode_cursor
from monitoring.contract.document import Json
from monitoring.monitors import muting, queries, service
from monitoring.monitors.contracts.preparing import prepare_contract, prepare_placed_contract
from monitoring.monitors.heartbeats.tokens import find_heartbeat
from monitoring.monitors.queries import MonitorFilter, MonitorRow, row_of
from monitoring.monitors.representations import represent_monitor, represent_mute, represent_page
from monitoring.notifications.muting import find_mute
from monitoring.web.endpoint import ActOnce
from monitoring.web.replies import NO_STORE, Reply


async def list_monitors(  # noqa: PLR0913 - one argument a parameter of the document
    *,
    caller: Caller,
    limit: int,
    cursor: str | None = None,
    status: str | None = None,
    type: str | None = None,  # noqa: A002 - the document's name
    tag: str | None = None,
    paused: bool | None = None,
    search: str | None = None,
) -> Reply:
    """Return a page of the team's monitors."""
    wanted = MonitorFilter(status=status, type=type, tags=(tag,) if tag else (), paused=paused, search=search)
    after_id = decode_cursor(cursor)
    return Reply.tagged(represent_page(await queries.list_monitors(caller.team_id, wanted, limit, after_id)))


async def create_monitor(body: Json, caller: Caller, act_once: ActOnce) -> Reply:
    """Create a monitor."""
    given = await prepare_contract(caller.team_id, body)

    async def create() -> Reply:
        monitor = await service.create_monitor(caller.team_id, given, by=caller.actor)
        row = row_of(monitor, None, await find_heartbeat(monitor))
        return _reply(row, 201, Location=f"/api/monitors/{monitor.id}")

    return await act_once(create)


async def put_monitor_by_key(  # noqa: PLR0913 - one argument a parameter of the document
    key: str,
    body: Json,
    caller: Caller,
    act_once: ActOnce,
    *,
    if_match: str | None = None,
    if_none_match: str | None = None,
) -> Reply:
    """Create the monitor with this key, or replace its configuration."""
    conditions = Conditions(if_match, if_none_match)
    saved = await service.find_monitor_by_key(caller.team_id, key)
    given = await prepare_placed_contract(caller.team_id, body, saved)

    async def put() -> Reply:
        placed = await service.put_monitor(caller.team_id, key, given, conditions, by=caller.actor)
        monitor = placed.row
        mute = await find_mute(monitor.id, datetime.now(UTC))
        shown = _reply(row_of(monitor, mute, await find_heartbeat(monitor)))
        return represent_placed(placed, "monitor", shown, f"/api/monitors/{monitor.id}")

    return await act_once(put)


async def get_monitor(monitor_id: str, caller: Caller) -> Reply:
    """Return one monitor."""
    return _reply(await queries.read_monitor(caller.team_id, UUID(monitor_id)))


async def update_monitor(
    monitor_id: str, body: Json, caller: Caller, act_once: ActOnce, if_match: str | None = None
) -> Reply:
    """Change a monitor."""
    given = body
    if body.get("contract") is not None:
        saved = await service.get_monitor(caller.team_id, UUID(monitor_id))
        given = await prepare_contract(caller.team_id, body, saved)

    async def update() -> Reply:
        monitor = await service.update_monitor(
            caller.team_id, UUID(monitor_id), given, if_match, by=caller.actor
        )
        mute = await find_mute(monitor.id, datetime.now(UTC))
        return _reply(row_of(monitor, mute, await find_heartbeat(monitor)))

    return await act_once(update)


async def delete_monitor(monitor_id: str, caller: Caller, if_match: str | None = None) -> Reply:
    """Delete a monitor."""
    await service.delete_monitor(caller.team_id, UUID(monitor_id), if_match, by=caller.actor)
    return Reply.empty()


async def mute_monitor(monitor_id: str, body: Json, caller: Caller) -> Reply:
    """Mute a monitor for a number of seconds, or until it is unmuted. Return the mute."""
    mute = await muting.mute_monitor(
        caller.team_id, UUID(monitor_id), body.get("duration_seconds"), by=caller.actor
    )
    return Reply(represent_mute(mute.muted_until, mute.muted_by))


async def unmute_monitor(monitor_id: str, caller: Caller) -> Reply:
    """Unmute a monitor."""
    await muting.unmute_monitor(caller.team_id, UUID(monitor_id), by=caller.actor)
    return Reply.empty()


def _reply(monitor: MonitorRow, status: int = 200, **headers: str) -> Reply:
    headers |= NO_STORE if monitor["encrypted_token"] else {}
    return Reply.tagged(represent_monitor(monitor), status, headers, version=str(monitor["version"]))
