"""Applies a team's maintenance windows to its monitors: which monitors are in maintenance, and until when.

A check state stores its monitor's current maintenance span or, shortly before the next span begins, the next
span. A check therefore need not read the windows to find out whether its monitor is in maintenance. The
functions run in the caller's transaction, which has locked the team.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID, uuid4

from monitoring.auth.models import Team
from monitoring.backends.database import transaction
from monitoring.monitors.health import Health, State, status_of
from monitoring.monitors.maintenance.models import MaintenanceSpan, MaintenanceWindow
from monitoring.monitors.maintenance.recurrence import Occurrence, Plan, occurrences
from monitoring.monitors.models import CheckState, Monitor

# How long before its start a span is stored. This is longer than a claim lasts. A claim that is made before a
# planned window, for a check that runs in the window, therefore already contains the window's span.
LOOK_AHEAD = timedelta(minutes=2)

# The maximum number of monitors in one database statement, which takes a limited number of parameters.
MONITORS_AT_ONCE = 1000


class _Cover(NamedTuple):
    """A current or imminent occurrence of a window, and the window's monitors by id or tag.

    With neither ids nor tags, the window applies to all of the team's monitors.
    """

    occurrence: Occurrence
    monitor_ids: frozenset[str]
    tags: frozenset[str]

    def has(self, monitor_id: UUID, tags: Iterable[str]) -> bool:
        if not self.monitor_ids and not self.tags:
            return True
        return str(monitor_id) in self.monitor_ids or not self.tags.isdisjoint(tags)


def occurrence_of(window: MaintenanceWindow, now: datetime) -> Occurrence | None:
    """Return a window's current or next occurrence, or None if no occurrence is left."""
    return next((each for each in occurrences(plan_of(window), now) if _is_on(window, each)), None)


def next_start_of(window: MaintenanceWindow, now: datetime) -> datetime | None:
    """Return when a window's next occurrence starts, or None if no occurrence is left."""
    starts = (each.starts_at for each in occurrences(plan_of(window), now) if _is_on(window, each))
    return next((starts_at for starts_at in starts if starts_at > now), None)


def plan_of(window: MaintenanceWindow) -> Plan:
    """Return the plan of a window: when its occurrences start."""
    duration = timedelta(seconds=window.duration_seconds)
    return Plan(window.starts_at, duration, window.recurrence, window.time_zone)


def due_at_of(window: MaintenanceWindow, now: datetime) -> datetime | None:
    """Return when a window must next be processed: shortly before an occurrence begins, or when it ends.

    Return None if no occurrence is left.
    """
    occurrence = occurrence_of(window, now)
    if occurrence is None:
        return None
    is_near = occurrence.starts_at <= now + LOOK_AHEAD
    return occurrence.ends_at if is_near else occurrence.starts_at - LOOK_AHEAD


async def cover_monitors(
    team_id: UUID, now: datetime, *, monitor_id: UUID | None = None, since: datetime | None = None
) -> None:
    """Update the maintenance spans of a team's monitors, or only of `monitor_id`, from the team's windows.

    A span starts when an occurrence of a window starts, even in the past, but never before `since`.
    """
    covers = await _read_covers(team_id, now)
    monitors = Monitor.filter(team_id=team_id)
    if monitor_id:
        monitors = monitors.filter(id=monitor_id)
    wanted: dict[UUID, Occurrence | None] = {}
    for found_id, tags, *spans in await monitors.values_list(
        "id", "tags", "check_state__maintenance_from", "check_state__maintenance_until"
    ):
        span = _span_of(covers, found_id, tags)
        if spans != [*(span or (None, None))]:
            wanted[found_id] = span
    ids = sorted(wanted)
    for start in range(0, len(ids), MONITORS_AT_ONCE):
        portion = {each: wanted[each] for each in ids[start : start + MONITORS_AT_ONCE]}
        await _move(portion, now, since)


async def cover_monitor(monitor: Monitor, now: datetime, *, since: datetime | None = None) -> None:
    """Update the maintenance span of a monitor that is new or has new tags, from its team's windows.

    Also reload the monitor's status and check state. No span begins before `since`, which defaults to `now`.
    """
    if not await MaintenanceWindow.exists(team_id=monitor.team_id, due_at__isnull=False):
        return
    async with transaction():
        await Team.lock(monitor.team_id)
        await cover_monitors(monitor.team_id, now, monitor_id=monitor.id, since=since or now)
        check_state = await CheckState.get(monitor_id=monitor.id)
        await monitor.refresh_from_db(fields=("status", "status_changed_at"))
        monitor.remember(check_state)


def is_covered(check_state: CheckState, now: datetime) -> bool:
    """Return whether the maintenance span in a check state contains `now`."""
    span = _span_in(check_state)
    return span is not None and span.starts_at <= now < span.ends_at


async def _read_covers(team_id: UUID, now: datetime) -> list[_Cover]:
    covers = []
    for window in await MaintenanceWindow.filter(team_id=team_id, due_at__isnull=False):
        occurrence = occurrence_of(window, now)
        if occurrence and occurrence.starts_at <= now + LOOK_AHEAD:
            begun = occurrence._replace(starts_at=max(occurrence.starts_at, window.created_at))
            covers.append(_Cover(begun, frozenset(window.monitor_ids), frozenset(window.tags)))
    return sorted(covers)


def _is_on(window: MaintenanceWindow, occurrence: Occurrence) -> bool:
    return window.ended_at is None or occurrence.starts_at > window.ended_at


def _span_of(covers: Sequence[_Cover], monitor_id: UUID, tags: Iterable[str]) -> Occurrence | None:
    """Return the first occurrence that covers a monitor, or None.

    The occurrence is merged with later occurrences that cover the monitor, if they overlap or directly follow
    it.
    """
    span: Occurrence | None = None
    for cover in covers:
        if not cover.has(monitor_id, tags):
            continue
        starts_at, ends_at = cover.occurrence
        if span is None:
            span = cover.occurrence
        elif starts_at <= span.ends_at:
            span = Occurrence(span.starts_at, max(span.ends_at, ends_at))
    return span


async def _move(wanted: dict[UUID, Occurrence | None], now: datetime, since: datetime | None) -> None:
    """Lock the check states of monitors, then store the monitors' new spans in place of the old ones.

    The `MaintenanceSpan` rows of past spans are kept.
    """
    locked = CheckState.filter(monitor_id__in=list(wanted)).order_by("monitor_id")
    moves: dict[tuple[Occurrence | None, Occurrence | None], list[CheckState]] = defaultdict(list)
    for check_state in await locked.select_for_update(no_key=True):
        before = _span_in(check_state)
        moves[before, _begin_after(before, wanted[check_state.monitor_id], now, since)].append(check_state)
    for (before, after), check_states in moves.items():
        if before != after:
            await _write_spans([check_state.monitor_id for check_state in check_states], before, after, now)
            await _write_check_states(check_states, before, after, now)
            await _write_statuses(check_states, before, after, now)


def _begin_after(
    before: Occurrence | None, after: Occurrence | None, now: datetime, since: datetime | None
) -> Occurrence | None:
    """Return the new span, `after`, with its final start. `before` is the span that is stored now.

    If both spans are current, `after` keeps the start of `before`. If `before` has ended, `after` does not
    begin before the end of `before`.
    """
    if after is None:
        return None
    if before and before.starts_at <= now < before.ends_at and after.starts_at <= now:
        return after._replace(starts_at=before.starts_at)
    starts_at = max(after.starts_at, since or after.starts_at)
    if before and before.ends_at <= now:
        starts_at = max(starts_at, before.ends_at)
    return after._replace(starts_at=starts_at)


async def _write_spans(
    monitor_ids: list[UUID], before: Occurrence | None, after: Occurrence | None, now: datetime
) -> None:
    if before and before.ends_at > now:
        old = MaintenanceSpan.filter(monitor_id__in=monitor_ids, starts_at=before.starts_at)
        if before.starts_at > now:
            await old.delete()
        elif after is None or after.starts_at != before.starts_at:
            await old.update(ends_at=now)
    if after:
        await MaintenanceSpan.bulk_create(
            [MaintenanceSpan(monitor_id=each, **after._asdict()) for each in monitor_ids],
            on_conflict=("monitor_id", "starts_at"),
            update_fields=("ends_at",),
        )


async def _write_check_states(
    check_states: list[CheckState], before: Occurrence | None, after: Occurrence | None, now: datetime
) -> None:
    """Store the new span, `after`, in check states.

    If the old or the new span is current, results of checks in progress are dropped, because these checks
    were claimed with the old span. Monitors whose last check failed in maintenance are checked when the
    maintenance ends.
    """
    starts_at, ends_at = after or (None, None)
    rows = CheckState.filter(monitor_id__in=[check_state.monitor_id for check_state in check_states])
    await rows.update(maintenance_from=starts_at, maintenance_until=ends_at)
    is_under_way = after is not None and after.starts_at <= now
    was_under_way = before is not None and before.starts_at <= now < before.ends_at
    if is_under_way or was_under_way:
        for check_state in check_states:
            if check_state.claim:  # invalidates the claim, but keeps its lease, so checks never overlap
                await CheckState.filter(id=check_state.id).update(
                    claim=uuid4(), next_check_at=check_state.due_at
                )
    end = _end_of_maintenance(before, after, now)
    if end:
        unknown = rows.filter(claim=None, is_blind=True, due_at__gt=end)
        await unknown.update(due_at=end, next_check_at=end)


def _end_of_maintenance(
    before: Occurrence | None, after: Occurrence | None, now: datetime
) -> datetime | None:
    """Return the end of maintenance that has begun, or None if no maintenance has begun.

    The end may be in the past.
    """
    if after and after.starts_at <= now:
        return after.ends_at
    return min(before.ends_at, now) if before and before.starts_at <= now else None


async def _write_statuses(
    check_states: list[CheckState], before: Occurrence | None, after: Occurrence | None, now: datetime
) -> None:
    if after and after.starts_at <= now:
        ids = [check_state.monitor_id for check_state in check_states]
        await show_maintenance(ids, after.starts_at)
        return
    changed_at = min(before.ends_at, now) if before else now
    by_status: dict[str, list[UUID]] = defaultdict(list)
    for check_state in check_states:
        by_status[_status_without(check_state, now)].append(check_state.monitor_id)
    for status, ids in by_status.items():
        shown = Monitor.filter(id__in=ids, status=State.MAINTENANCE)
        await shown.update(status=status, status_changed_at=changed_at)


async def show_maintenance(monitor_ids: list[UUID], since: datetime) -> None:
    """Set the status of monitors that are not paused to `maintenance`."""
    monitors = Monitor.filter(id__in=monitor_ids).exclude(status__in=(State.MAINTENANCE, State.PAUSED))
    await monitors.update(status=State.MAINTENANCE, status_changed_at=since)


def _span_in(check_state: CheckState) -> Occurrence | None:
    if check_state.maintenance_from is None or check_state.maintenance_until is None:
        return None
    return Occurrence(check_state.maintenance_from, check_state.maintenance_until)


def _status_without(check_state: CheckState, now: datetime) -> str:
    if check_state.seen_until and check_state.seen_until < now:
        return "unknown"
    return status_of(Health(*(getattr(check_state, name) for name in Health._fields)))
