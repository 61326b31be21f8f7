"""When a monitor begins to be checked, rests, and is not there any more; inside the caller's transaction."""

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

# How soon what is changed is looked at, however often it is changed.
CHANGE_DELAY = timedelta(seconds=10)

_MICROSECOND = timedelta(microseconds=1)
_UNKNOWN_HEALTH = Health(State.PENDING)._asdict()


def begin_watch(monitor: Monitor, now: datetime) -> tuple[Watch, StateChange]:
    """Return the rows that let checks of a new monitor begin at once, unless it is paused."""
    watch = new_row(Watch, monitor_id=monitor.id, **_beginning(monitor, now, now))
    monitor.remember(watch)
    return watch, new_row(StateChange, monitor_id=monitor.id, changed_at=now, state=_state_of(monitor))


async def restart_watch(monitor: Monitor, now: datetime) -> datetime:
    """Pause checks or let them begin anew, as `paused` says by now; returns since when that is so.

    What was believed is forgotten, and the result of a check that is under way not wanted any more; resumed
    before its lease has ended, a monitor waits for that. Pausing ends an open incident: nobody would see it
    heal.
    """
    last_change = await StateChange.filter(monitor_id=monitor.id).order_by("-changed_at").first()
    if last_change:  # by a machine whose clock may be ahead
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
    """Let a monitor be checked soon as it is now. The result of a check as it was before is dropped."""
    if watch.claim:  # nobody has the new one, and the lease goes on: two checks are never under way
        await _update(watch, claim=uuid4(), next_check_at=watch.due_at)
    elif watch.next_check_at:
        due_at = min(watch.next_check_at, now + CHANGE_DELAY)
        await _update(watch, due_at=due_at, next_check_at=due_at)


async def _update(watch: Watch, **changes: object) -> None:
    await watch.update_from_dict(changes).save(update_fields=changes)


def _beginning(monitor: Monitor, first_at: datetime, now: datetime) -> dict[str, Any]:
    """Return what a watch begins with. While it rests, `next_check_at` is how soon it could go on."""
    return {
        "due_at": None if monitor.paused else first_at,
        "next_check_at": first_at,
        "claim": uuid4() if first_at > now else None,
        **_UNKNOWN_HEALTH,
    }


def _not_before(watch: Watch, now: datetime) -> datetime:
    """Return how soon no check can be under way."""
    lease_ends_at = (watch.due_at or watch.next_check_at) if watch.claim else None
    return max(lease_ends_at or now, now)


async def _count_as(state: State, monitor: Monitor, since: datetime) -> None:
    await StateChange.update_or_create({"state": state}, monitor_id=monitor.id, changed_at=since)


def _state_of(monitor: Monitor) -> State:
    return State.PAUSED if monitor.paused else State.PENDING
