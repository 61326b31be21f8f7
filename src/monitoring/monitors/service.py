"""Operations on monitors for clients. Each function is one transaction.

Functions with an actor (`by`) record the action in the audit log.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from uuid import UUID

from tortoise.expressions import F

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.service import record_many
from monitoring.auth.models import Team
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.inserts import insert_together
from monitoring.by_key.placing import Conditions, Placed, demand_free_key, place
from monitoring.contract.document import Json
from monitoring.contract.entity_tags import is_current
from monitoring.contract.problems import Problem
from monitoring.incidents.models import Resolution
from monitoring.incidents.service import resolve_incident
from monitoring.monitors import rules
from monitoring.monitors.check_state import begin_checks, check_changed, restart_checks
from monitoring.monitors.configuration import (
    Configuration,
    default_configuration,
    sent_configuration_of,
    store_configuration,
)
from monitoring.monitors.contracts.keeping import is_same_contract
from monitoring.monitors.health import State
from monitoring.monitors.heartbeats.models import Heartbeat
from monitoring.monitors.heartbeats.tokens import new_token
from monitoring.monitors.maintenance.covering import cover_monitor, is_covered
from monitoring.monitors.models import HEARTBEAT, CheckState, Monitor
from monitoring.monitors.recording import entries_of, name_changed_fields, record_act, record_change
from monitoring.monitors.settings_rules import demand_offered, demand_public_resolver


async def create_monitor(
    team_id: UUID, given: Mapping[str, Json], *, by: Actor | None = None, key: str | None = None
) -> Monitor:
    """Create a monitor.

    Raises Problem if the configuration is invalid, if the team already has as many monitors as its plan
    allows, or if the operator does not allow this kind of monitor.
    """
    configuration = rules.complete(given, default_configuration())
    demand_offered(configuration, current_backends().settings)
    now = datetime.now(UTC)
    monitor = Monitor(
        team_id=team_id,
        key=key,
        status=rules.status_after("pending", paused=configuration["paused"]),
        status_changed_at=now,
        created_at=now,
        updated_at=now,
        search_text=_search_text(configuration),
        **store_configuration(configuration),
    )
    async with transaction() as connection:
        # Incrementing the count locks the team's row. Concurrent requests therefore cannot exceed the limit,
        # and a maintenance window that is created at the same time applies to this monitor, too.
        has_room = Team.filter(id=team_id, monitors_count__lt=F("max_monitors"))
        if not await has_room.update(monitors_count=F("monitors_count") + 1):
            team = await Team.get(id=team_id)
            raise Problem("monitor_limit_reached", max_monitors=team.max_monitors)
        entries = entries_of(monitor, Action.MONITOR_CREATED, by)
        own = [Heartbeat(monitor_id=monitor.id, **new_token())] if monitor.type == HEARTBEAT else []
        await insert_together(connection, monitor, *begin_checks(monitor, now), *own, *entries)
        await cover_monitor(monitor, datetime.now(UTC), since=now)
    return monitor


async def name_monitors(team_id: UUID, monitor_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the names, by id, of the monitors in `monitor_ids` that belong to the team."""
    found = Monitor.filter(team_id=team_id, id__in=list(monitor_ids))
    return dict(await found.values_list("id", "name")) if monitor_ids else {}


async def name_newest_monitors(team_id: UUID, limit: int) -> dict[UUID, str]:
    """Return the names of the team's newest monitors by id, newest first."""
    newest = Monitor.filter(team_id=team_id).order_by("-id").limit(limit)
    return dict(await newest.values_list("id", "name"))


async def get_monitor(team_id: UUID, monitor_id: UUID) -> Monitor:
    """Return a monitor of the team. Raises Problem if the team has no monitor with this id."""
    monitor = await Monitor.get_or_none(id=monitor_id, team_id=team_id).select_related("check_state")
    if monitor is None:
        raise Problem("monitor_not_found")
    return monitor


async def update_monitor(
    team_id: UUID,
    monitor_id: UUID,
    patch: Mapping[str, Json],
    if_match: str | None = None,
    *,
    by: Actor | None = None,
) -> Monitor:
    """Apply a merge patch to a monitor. If nothing changes, the version and `updated_at` stay the same."""
    patch = dict(patch)
    async with transaction():
        if patch.keys() & {"key", "tags"}:  # lock the team before the check state, as `cover_monitor` does
            await Team.lock(team_id)
        monitor = await _lock_monitor(team_id, monitor_id, if_match)
        key = patch.pop("key", monitor.key)
        await demand_free_key(monitor, key)
        before = sent_configuration_of(monitor)
        await _change(monitor, key, before, rules.change(before, patch, default_configuration()), by)
        return monitor


async def put_monitor(
    team_id: UUID, key: str, given: Mapping[str, Json], conditions: Conditions, *, by: Actor | None = None
) -> Placed[Monitor]:
    """Create the monitor with this key, or replace its configuration.

    Raises Problem as `create_monitor` and `update_monitor` do.
    """

    async def create() -> Monitor:
        return await create_monitor(team_id, given, by=by, key=key)

    async def replace(monitor_id: UUID) -> tuple[Monitor, Collection[str]]:
        monitor = await _lock_monitor(team_id, monitor_id, conditions.if_match)
        before = sent_configuration_of(monitor)
        after = rules.replace(before, given, default_configuration())
        return monitor, await _change(monitor, key, before, after, by)

    return await place(
        Monitor,
        team_id,
        key,
        conditions,
        create=create,
        replace=replace,
        exists=Problem("monitor_exists"),
        changed=Problem("monitor_changed"),
    )


async def find_monitor_by_key(team_id: UUID, key: str) -> Monitor | None:
    """Return the team's monitor with this key, or None."""
    return await Monitor.get_or_none(team_id=team_id, key=key)


async def _change(
    monitor: Monitor, key: str | None, before: Configuration, after: Configuration, by: Actor | None
) -> Collection[str]:
    """Store a key and a configuration, unless both are unchanged. Return the changed fields."""
    if is_same_contract(monitor, after["contract"]):
        after = {**after, "contract": before["contract"]}
    if after == before and key == monitor.key:
        return ()
    old_key, monitor.key = monitor.key, key
    demand_public_resolver(after, current_backends().settings)
    await _store_change(monitor, before, after)
    await record_change(monitor, {**before, "key": old_key}, {**after, "key": key}, by)
    return name_changed_fields(before, after)


async def delete_monitor(
    team_id: UUID, monitor_id: UUID, if_match: str | None = None, *, by: Actor | None = None
) -> None:
    """Delete a monitor, which then no longer counts towards the plan's limit.

    An open incident is resolved first. The monitor's incidents are kept after the deletion.
    """
    async with transaction():
        # The team is locked first, because `act_once` locks it first, too. A different order could deadlock.
        await Team.filter(id=team_id).update(monitors_count=F("monitors_count") - 1)
        monitor = await _lock_monitor(team_id, monitor_id, if_match)
        now = current_backends().clock.now()
        await resolve_incident(monitor, resolved_at=now, resolution=Resolution.DELETED)
        await monitor.delete()
        await record_act(monitor, Action.MONITOR_DELETED, by)


async def _lock_monitor(team_id: UUID, monitor_id: UUID, if_match: str | None) -> Monitor:
    """Lock a monitor's rows until the transaction ends, and return the monitor.

    The check state is locked first, because storing checks locks it first, too. A different order could
    deadlock. Raises Problem if the team has no such monitor, or if `if_match` does not match its version.
    """
    check_state = await CheckState.select_for_update().get_or_none(monitor_id=monitor_id)
    monitor = await Monitor.select_for_update().get_or_none(id=monitor_id, team_id=team_id)
    if check_state is None or monitor is None:
        raise Problem("monitor_not_found")
    monitor.remember(check_state)
    if not is_current(if_match, str(monitor.version)):
        raise Problem("monitor_changed")
    return monitor


async def _store_change(monitor: Monitor, before: Configuration, after: Configuration) -> None:
    now = datetime.now(UTC)
    monitor.update_from_dict(store_configuration(after))
    monitor.search_text = _search_text(after)
    monitor.updated_at = now
    monitor.version += 1
    if monitor.paused != before["paused"]:
        monitor.status = rules.status_after(monitor.status, paused=monitor.paused)
        monitor.status_changed_at = (await restart_checks([monitor], now))[monitor.id]
    elif rules.is_checked_otherwise(before, after):
        await check_changed(monitor, now)
    if not monitor.paused and is_covered(monitor.check_state, now):  # also if the monitor was just resumed
        monitor.status = State.MAINTENANCE
    await monitor.save()
    if monitor.tags != before["tags"]:
        await cover_monitor(monitor, now)


def _search_text(configuration: Configuration) -> str:
    """Return the name and the URL, case-folded, for searches.

    The case is folded here, because a database folds only ASCII, or folds according to its locale.
    """
    return f"{configuration['name']}\n{configuration['url']}".casefold()


async def set_paused(team_id: UUID, monitor_ids: Collection[UUID], *, paused: bool, by: Actor) -> None:
    """Set `paused` on these monitors of the team. Monitors that already have this value are skipped."""
    async with transaction():
        changed = await _lock_monitors(team_id, monitor_ids, paused=not paused)
        now = datetime.now(UTC)
        for monitor in changed:
            monitor.paused = paused
        since = await restart_checks(changed, now)
        alike: dict[tuple[str, datetime], list[UUID]] = defaultdict(list)
        for monitor in changed:
            status = rules.status_after(monitor.status, paused=paused)
            if not paused and is_covered(monitor.check_state, now):
                status = State.MAINTENANCE
            alike[status, since[monitor.id]].append(monitor.id)
        for (status, changed_at), ids in alike.items():
            await Monitor.filter(id__in=ids).update(
                paused=paused,
                status=status,
                status_changed_at=changed_at,
                updated_at=now,
                version=F("version") + 1,
            )
        action = Action.MONITOR_PAUSED if paused else Action.MONITOR_RESUMED
        await record_many(team_id, by, action, {monitor.id: monitor.name for monitor in changed})


async def _lock_monitors(team_id: UUID, monitor_ids: Collection[UUID], *, paused: bool) -> list[Monitor]:
    """Lock the check states of monitors, then lock and return the monitors with this value of `paused`."""
    ids = list(await name_monitors(team_id, monitor_ids))
    check_states = CheckState.filter(monitor_id__in=ids).order_by("monitor_id").select_for_update()
    by_monitor = {check_state.monitor_id: check_state for check_state in await check_states}
    monitors = Monitor.filter(id__in=list(by_monitor), paused=paused).order_by("id").select_for_update()
    found = list(await monitors)
    for monitor in found:
        monitor.remember(by_monitor[monitor.id])
    return found
