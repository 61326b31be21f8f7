"""Pauses and resumes many monitors at once, as if `paused` was changed for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import UTC, datetime
from uuid import UUID

from tortoise.expressions import F

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.service import record_many
from monitoring.backends.database import transaction
from monitoring.monitors import rules
from monitoring.monitors.health import State
from monitoring.monitors.maintenance.covering import is_covered
from monitoring.monitors.models import Monitor, Watch
from monitoring.monitors.service import name_monitors
from monitoring.monitors.watch import restart_watches


async def set_paused(team_id: UUID, monitor_ids: Collection[UUID], *, paused: bool, by: Actor) -> None:
    """Pause or resume monitors of the team, in one transaction. Others are unchanged."""
    async with transaction():
        changed = await _lock_monitors(team_id, monitor_ids, paused=not paused)
        now = datetime.now(UTC)
        for monitor in changed:
            monitor.paused = paused
        since = await restart_watches(changed, now)
        alike: dict[tuple[str, datetime], list[UUID]] = defaultdict(list)
        for monitor in changed:
            status = rules.status_after(monitor.status, paused=paused)
            if not paused and is_covered(monitor.watch, now):
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
    """Lock the monitors that are paused, or those that are not, after their watches."""
    ids = list(await name_monitors(team_id, monitor_ids))
    watches = Watch.filter(monitor_id__in=ids).order_by("monitor_id").select_for_update()
    by_monitor = {watch.monitor_id: watch for watch in await watches}
    monitors = Monitor.filter(id__in=list(by_monitor), paused=paused).order_by("id").select_for_update()
    found = list(await monitors)
    for monitor in found:
        monitor.remember(by_monitor[monitor.id])
    return found
