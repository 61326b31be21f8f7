"""Starts, pauses and restarts a monitor's checks, inside the caller's transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from tortoise.functions import Max

from monitoring.incidents.models import Resolution
from monitoring.incidents.service import Ending, resolve_incidents
from monitoring.monitors.health import Health, State
from monitoring.monitors.heartbeats.appointments import begin_anew, find_appointment
from monitoring.monitors.models import HEARTBEAT, CheckState, Monitor, StateChange

# A changed monitor is checked within this time. Further changes do not postpone that check.
CHANGE_DELAY = timedelta(seconds=10)

_MICROSECOND = timedelta(microseconds=1)
_UNKNOWN_HEALTH = Health(State.PENDING)._asdict()


def begin_checks(monitor: Monitor, now: datetime) -> tuple[CheckState, StateChange]:
    """Return a new monitor's check state and first state change, which the caller must save.

    The first check is due at once. A paused monitor has no due time, nor does a heartbeat before its first
    ping.
    """
    first_at = None if monitor.type == HEARTBEAT else now
    check_state = CheckState(monitor_id=monitor.id, **_beginning(monitor.paused, first_at, now))
    monitor.remember(check_state)
    return check_state, _change(monitor, now, _state_of(monitor))


async def restart_checks(monitors: Sequence[Monitor], now: datetime) -> Mapping[UUID, datetime]:
    """Pause each monitor's checks if its `paused` is true, and restart them otherwise.

    Return, by monitor id, the time from which the change applies. A monitor's health is reset to pending, and
    the result of a check in progress is dropped. If a monitor is resumed before the lease of such a check
    ends, its next check is due when the lease ends, so that checks never overlap. Pausing resolves an open
    incident, because no check can resolve the incident while the monitor is paused.
    """
    since = await _follow_last_changes([monitor.id for monitor in monitors], now)
    appointments = await begin_anew(monitors, since)
    changes: list[StateChange] = []
    alike: dict[tuple[bool, datetime | None, datetime], list[CheckState]] = defaultdict(list)
    for monitor in monitors:
        check_state, begins_at = monitor.check_state, since[monitor.id]
        if check_state.seen_until and check_state.seen_until < begins_at and not check_state.is_blind:
            changes.append(_change(monitor, check_state.seen_until, State.UNKNOWN))
        changes.append(_change(monitor, begins_at, _state_of(monitor)))
        first_at = appointments.get(monitor.id, _not_before(check_state, begins_at))
        alike[monitor.paused, first_at, begins_at].append(check_state)
    for beginning, check_states in alike.items():
        columns = _beginning(*beginning)
        await CheckState.filter(id__in=[check_state.id for check_state in check_states]).update(**columns)
        for check_state in check_states:
            check_state.update_from_dict(columns)
    await StateChange.bulk_create(changes, on_conflict=("monitor_id", "changed_at"), update_fields=("state",))
    await resolve_incidents(
        [
            Ending(monitor=monitor, resolved_at=since[monitor.id], resolution=Resolution.PAUSED)
            for monitor in monitors
            if monitor.paused
        ]
    )
    return since


async def check_changed(monitor: Monitor, now: datetime) -> None:
    """Schedule a check soon after a monitor was changed. The result of a check in progress is dropped."""
    check_state = monitor.check_state
    changes: dict[str, object] = {"certificate_expires_at": None}  # the certificate may have changed
    if monitor.type == HEARTBEAT and check_state.settled == State.PENDING:  # it is neither up nor down yet
        due_at = await find_appointment(monitor, now)
        changes |= {"claim": None, "due_at": due_at, "next_check_at": due_at}
    elif check_state.claim:  # invalidates the checker's claim, but keeps its lease, so checks never overlap
        changes |= {"claim": uuid4(), "next_check_at": check_state.due_at}
    elif check_state.next_check_at:
        due_at = min(check_state.next_check_at, now + CHANGE_DELAY)
        changes |= {"due_at": due_at, "next_check_at": due_at}
    await _update(check_state, **changes)


async def _update(check_state: CheckState, **changes: object) -> None:
    await check_state.update_from_dict(changes).save(update_fields=changes)


def _beginning(paused: bool, first_at: datetime | None, now: datetime) -> dict[str, Any]:  # noqa: FBT001 - a column
    """Return the columns that reset a check state.

    For a paused monitor, `next_check_at` stores the earliest time of its next check. If `first_at` is None,
    the first ping sets the due time.
    """
    return {
        "due_at": None if paused else first_at,
        "next_check_at": first_at,
        "claim": uuid4() if first_at and first_at > now else None,
        **_UNKNOWN_HEALTH,
    }


def _not_before(check_state: CheckState, now: datetime) -> datetime:
    """Return `now` or, if it is later, the end of the lease of a check that may still be in progress."""
    lease_ends_at = (check_state.due_at or check_state.next_check_at) if check_state.claim else None
    return max(lease_ends_at or now, now)


async def _follow_last_changes(monitor_ids: Sequence[UUID], now: datetime) -> dict[UUID, datetime]:
    """Return the time of each monitor's next state change: `now`, or just after its last change, if later.

    The last change is later than `now` if it was dated by a machine whose clock is ahead.
    """
    last_changes = (
        await StateChange.filter(monitor_id__in=list(monitor_ids))
        .annotate(last=Max("changed_at"))
        .group_by("monitor_id")
        .values_list("monitor_id", "last")
    )
    after = {monitor_id: changed_at + _MICROSECOND for monitor_id, changed_at in last_changes}
    return {monitor_id: max(now, after.get(monitor_id, now)) for monitor_id in monitor_ids}


def _change(monitor: Monitor, changed_at: datetime, state: State) -> StateChange:
    return StateChange(monitor_id=monitor.id, changed_at=changed_at, state=state)


def _state_of(monitor: Monitor) -> State:
    return State.PAUSED if monitor.paused else State.PENDING
