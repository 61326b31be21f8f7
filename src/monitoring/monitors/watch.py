"""Starts, pauses and restarts the checks of a monitor, inside the caller's transaction."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from monitoring.backends.inserts import new_row
from monitoring.incidents.models import Resolution
from monitoring.incidents.service import resolve_incident
from monitoring.monitors.health import Health, State
from monitoring.monitors.models import StateChange, Watch

if TYPE_CHECKING:
    from datetime import datetime

    from monitoring.monitors.models import Monitor

# How soon a changed monitor is checked, however often it is changed.
CHANGE_DELAY = timedelta(seconds=10)

_MICROSECOND = timedelta(microseconds=1)
_UNKNOWN_HEALTH = Health(State.PENDING)._asdict()


def begin_watch(monitor: Monitor, now: datetime) -> tuple[Watch, StateChange]:
    """Return the rows of a new monitor. Its checks begin at once, unless it is paused."""
    watch = new_row(Watch, monitor_id=monitor.id, **_beginning(monitor, now, now))
    monitor.remember(watch)
    return watch, new_row(StateChange, monitor_id=monitor.id, changed_at=now, state=_state_of(monitor))


async def restart_watch(monitor: Monitor, now: datetime) -> datetime:
    """Pause the checks or start them over, as `paused` says now. Return since when that holds.

    The monitor's health starts over, and the result of a check under way is dropped. A monitor resumed before
    that check's lease ends waits for the end. Pausing resolves an open incident, because no check would.
    """
    last_change = await StateChange.filter(monitor_id=monitor.id).order_by("-changed_at").first()
    if last_change:  # written by a machine whose clock may be ahead
        now = max(now, last_change.changed_at + _MICROSECOND)
    watch = monitor.watch
    if watch.seen_until and watch.seen_until < now and not watch.is_blind:
        await _count_as(State.UNKNOWN, monitor, watch.seen_until)
    await _update(watch, **_beginning(monitor, _not_before(watch, now), now))
    if monitor.paused:
        await resolve_incident(monitor, resolved_at=now, resolution=Resolution.PAUSED)
    await _count_as(_state_of(monitor), monitor, now)
    return now


async def check_changed(watch: Watch, now: datetime) -> None:
    """Have a monitor checked soon after a change. The result of a check under way is dropped."""
    changes: dict[str, object] = {"certificate_expires_at": None}  # it may be another one now
    if watch.claim:  # a new claim that nobody has; the lease goes on, so two checks never overlap
        changes |= {"claim": uuid4(), "next_check_at": watch.due_at}
    elif watch.next_check_at:
        due_at = min(watch.next_check_at, now + CHANGE_DELAY)
        changes |= {"due_at": due_at, "next_check_at": due_at}
    await _update(watch, **changes)


async def _update(watch: Watch, **changes: object) -> None:
    await watch.update_from_dict(changes).save(update_fields=changes)


def _beginning(monitor: Monitor, first_at: datetime, now: datetime) -> dict[str, Any]:
    """Return the columns a watch begins with. If paused, `next_check_at` is the earliest possible check."""
    return {
        "due_at": None if monitor.paused else first_at,
        "next_check_at": first_at,
        "claim": uuid4() if first_at > now else None,
        **_UNKNOWN_HEALTH,
    }


def _not_before(watch: Watch, now: datetime) -> datetime:
    """Return the earliest time at which no check can be under way."""
    lease_ends_at = (watch.due_at or watch.next_check_at) if watch.claim else None
    return max(lease_ends_at or now, now)


async def _count_as(state: State, monitor: Monitor, since: datetime) -> None:
    await StateChange.update_or_create({"state": state}, monitor_id=monitor.id, changed_at=since)


def _state_of(monitor: Monitor) -> State:
    return State.PAUSED if monitor.paused else State.PENDING
