"""Operations on maintenance windows for clients. Each function is one transaction.

Functions with an actor (`by`) record the action in the audit log.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.changes import Change, find_changed_fields, find_changes
from monitoring.audit.service import record
from monitoring.auth.models import Team
from monitoring.backends.database import transaction
from monitoring.backends.pages import Page, read_page
from monitoring.by_key.placing import Conditions, Placed, demand_free_key, place
from monitoring.contract.configurations import (
    Configuration,
    change,
    complete,
    read_configuration,
    read_defaults,
)
from monitoring.contract.document import Json
from monitoring.contract.entity_tags import is_current, version_of
from monitoring.contract.problems import Problem
from monitoring.contract.timestamps import read_timestamp
from monitoring.monitors.maintenance.covering import cover_monitors, due_at_of, occurrence_of, plan_of
from monitoring.monitors.maintenance.models import MaintenanceWindow
from monitoring.monitors.maintenance.recurrence import judge
from monitoring.monitors.models import Monitor

_SCHEMA = "MaintenanceWindowCreate"

# The limit does not count windows that have ended.
MAX_WINDOWS_A_TEAM = 100

# Occurrences are computed from the first start, so the first start must not be too long ago.
OLDEST_START = timedelta(days=366)


async def list_windows(team_id: UUID, limit: int, after_id: UUID | None) -> Page[MaintenanceWindow]:
    """Return up to `limit` windows of a team, newest first, starting after `after_id`."""
    return await read_page(MaintenanceWindow.filter(team_id=team_id), limit, after_id)


async def create_window(
    team_id: UUID, given: Mapping[str, Json], *, by: Actor | None = None, key: str | None = None
) -> MaintenanceWindow:
    """Create a window. It begins immediately if its start is in the past.

    Raises Problem if the window would never occur.
    """
    now = datetime.now(UTC)
    configuration = _read(complete(given, read_defaults(_SCHEMA), _name), now)
    window = MaintenanceWindow(team_id=team_id, key=key, created_at=now, updated_at=now, **configuration)
    if window.starts_at < now - OLDEST_START:
        raise Problem("maintenance_starts_too_early")
    judge(plan_of(window), now)
    window.due_at = due_at_of(window, now)
    async with transaction():
        # The lock covers counting and inserting, so concurrent requests cannot exceed the limit.
        await Team.lock(team_id)
        open_ones = MaintenanceWindow.filter(team_id=team_id, due_at__isnull=False)
        if await open_ones.count() >= MAX_WINDOWS_A_TEAM:
            raise Problem("maintenance_window_limit_reached")
        await _demand_monitors(team_id, window.monitor_ids)
        await window.save(force_create=True)
        await cover_monitors(team_id, now)
        await _record(window, Action.MAINTENANCE_CREATED, by)
    return window


async def get_window(team_id: UUID, window_id: UUID) -> MaintenanceWindow:
    """Return a window of the team. Raises Problem if the team has no window with this id."""
    window = await MaintenanceWindow.get_or_none(id=window_id, team_id=team_id)
    if window is None:
        raise Problem("maintenance_window_not_found")
    return window


async def update_window(
    team_id: UUID,
    window_id: UUID,
    patch: Mapping[str, Json],
    if_match: str | None = None,
    *,
    by: Actor | None = None,
) -> MaintenanceWindow:
    """Apply a merge patch to a window, with effect from now on. Raises Problem if the window has ended."""
    patch = dict(patch)
    async with transaction():
        await Team.lock(team_id)
        window = await get_window(team_id, window_id)
        _demand_version(window, if_match)
        key = patch.pop("key", window.key)
        await demand_free_key(window, key)
        before = read_configuration(window, _SCHEMA)
        await _change(window, key, change(before, patch, read_defaults(_SCHEMA), _name), by)
        return window


async def put_window(
    team_id: UUID, key: str, given: Mapping[str, Json], conditions: Conditions, *, by: Actor | None = None
) -> Placed[MaintenanceWindow]:
    """Create the window with this key, or replace its configuration.

    If `given` has no start, an existing window keeps its start. Raises Problem as `create_window` and
    `update_window` do.
    """

    async def create() -> MaintenanceWindow:
        return await create_window(team_id, given, by=by, key=key)

    async def replace(window_id: UUID) -> tuple[MaintenanceWindow, Collection[str]]:
        window = await get_window(team_id, window_id)
        _demand_version(window, conditions.if_match)
        configuration = complete({"starts_at": window.starts_at, **given}, read_defaults(_SCHEMA), _name)
        return window, await _change(window, key, configuration, by)

    return await place(
        MaintenanceWindow,
        team_id,
        key,
        conditions,
        create=create,
        replace=replace,
        exists=Problem("maintenance_window_exists"),
        changed=Problem("maintenance_window_changed"),
    )


async def _change(
    window: MaintenanceWindow, key: str | None, configuration: Configuration, by: Actor | None
) -> Collection[str]:
    """Store a key and a configuration, unless both are unchanged. Return the changed fields.

    Raises Problem if the window has ended, unless nothing changes.
    """
    now = datetime.now(UTC)
    before = read_configuration(window, _SCHEMA)
    after = _read(configuration, now)
    if after == before and key == window.key:
        return ()
    if occurrence_of(window, now) is None:
        raise Problem("maintenance_window_ended")
    if after["starts_at"] < min(before["starts_at"], now - OLDEST_START):
        raise Problem("maintenance_starts_too_early")
    old_key = window.key
    window.update_from_dict(after | {"key": key, "updated_at": now})
    judge(plan_of(window), now)
    # Only newly added monitors must exist. Monitors that the window already had may have been deleted.
    await _demand_monitors(
        window.team_id, [each for each in after["monitor_ids"] if each not in before["monitor_ids"]]
    )
    window.due_at = due_at_of(window, now)
    await window.save()
    await cover_monitors(window.team_id, now, since=now)
    changes = find_changes({**before, "key": old_key}, {**after, "key": key})
    await _record(window, Action.MAINTENANCE_UPDATED, by, changes)
    return sorted(find_changed_fields(before, after))


async def end_window(
    team_id: UUID, window_id: UUID, if_match: str | None = None, *, by: Actor | None = None
) -> MaintenanceWindow:
    """End a window's current occurrence, if there is one, and return the window."""
    async with transaction():
        await Team.lock(team_id)
        window = await get_window(team_id, window_id)
        _demand_version(window, if_match)
        now = datetime.now(UTC)
        if is_active(window, now):
            window.ended_at = window.updated_at = now
            window.due_at = due_at_of(window, now)
            await window.save(update_fields=("ended_at", "updated_at", "due_at"))
            await cover_monitors(team_id, now)
            await _record(window, Action.MAINTENANCE_ENDED, by)
        return window


async def delete_window(
    team_id: UUID, window_id: UUID, if_match: str | None = None, *, by: Actor | None = None
) -> None:
    """Delete a window, and end its current occurrence. The time until now still counts as maintenance."""
    async with transaction():
        await Team.lock(team_id)
        window = await get_window(team_id, window_id)
        _demand_version(window, if_match)
        await window.delete()
        await cover_monitors(team_id, datetime.now(UTC))
        await _record(window, Action.MAINTENANCE_DELETED, by)


def _demand_version(window: MaintenanceWindow, if_match: str | None) -> None:
    if not is_current(if_match, version_of(window.updated_at)):
        raise Problem("maintenance_window_changed")


def is_active(window: MaintenanceWindow, now: datetime) -> bool:
    """Return whether an occurrence of a window is in progress."""
    occurrence = occurrence_of(window, now)
    return occurrence is not None and occurrence.starts_at <= now


async def _record(
    window: MaintenanceWindow, action: Action, by: Actor | None, changes: Sequence[Change] = ()
) -> None:
    if by:
        await record(window.team_id, by, action, window.name, window.id, changes)


def _read(configuration: Configuration, now: datetime) -> Configuration:
    """Return a configuration with its start as a datetime. A missing start is replaced by `now`."""
    starts_at = configuration.get("starts_at") or now
    if isinstance(starts_at, str):
        starts_at = read_timestamp(starts_at)
    if configuration["recurrence"]:
        starts_at = starts_at.replace(microsecond=0)  # recurrence rules support only whole seconds
    return configuration | {"starts_at": starts_at}


def _name(_: Configuration) -> str:
    return "Maintenance"


async def _demand_monitors(team_id: UUID, monitor_ids: Sequence[str]) -> None:
    wanted = [UUID(each) for each in monitor_ids]
    found = set(await Monitor.filter(team_id=team_id, id__in=wanted).values_list("id", flat=True))
    for each in wanted:
        if each not in found:
            raise Problem("maintenance_monitor_unknown", monitor_id=str(each))
