"""Derives a monitor's status, incidents and counted time from its checks. Has no side effects."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum, auto
from typing import NamedTuple

# How late a check may begin before the monitor's time counts as unknown. If a checker dies, another checker
# can claim the monitor only after the first claim has expired, which takes up to 75 seconds (the timeout plus
# 15 seconds).
GRACE = timedelta(seconds=120)


class Outcome(StrEnum):
    """The outcome of one check, which holds until the next check.

    UNKNOWN means that the check says nothing about the monitor, for example because this service was offline.
    """

    UP = auto()
    DEGRADED = auto()
    DOWN = auto()
    UNKNOWN = auto()


class State(StrEnum):
    """How a period of a monitor's time is classified."""

    PENDING = auto()
    UP = auto()
    DOWN = auto()
    UNKNOWN = auto()
    PAUSED = auto()
    MAINTENANCE = auto()


# Every MonitorStatus of the OpenAPI document: PAUSED, MAINTENANCE, and every value that `status_of` returns.
STATUSES = (*map(str, State), "degraded", "validating")


class Transition(NamedTuple):
    """A change of a monitor's state. From `changed_at` on, the monitor's time counts as `state`."""

    changed_at: datetime
    state: State


class Health(NamedTuple):
    """A monitor's confirmed state, and the streak that may change it.

    `settled` is PENDING, UP or DOWN. `streak` counts consecutive outcomes that contradict `settled`. While
    `is_blind`, nothing is known about the monitor, and its time counts as UNKNOWN. `seen_until` is the time
    until which the last outcome holds, or None before the first outcome.
    """

    settled: State
    is_degraded: bool = False
    is_blind: bool = False
    streak: int = 0
    streak_started_at: datetime | None = None
    seen_until: datetime | None = None


class Observation(NamedTuple):
    """The consequences of a check: new health, state changes, and when an incident opens or is resolved.

    `changes` are oldest first. A change that a streak confirms is dated to the start of the streak. If an
    earlier change has the same time, the new change replaces it. This happens only when an offline period
    ends and the previous state holds again.
    """

    health: Health
    changes: tuple[Transition, ...]
    opened_at: datetime | None
    resolved_at: datetime | None


def observe(  # noqa: PLR0913 - the three settings of a monitor that matter here
    health: Health,
    outcome: Outcome,
    checked_at: datetime,
    *,
    interval_seconds: int,
    failure_threshold: int,
    recovery_threshold: int,
) -> Observation:
    """Return the consequences of a monitor's next check. `checked_at` must be later than in earlier calls.

    A monitor goes down after `failure_threshold` consecutive failures, and recovers after
    `recovery_threshold` consecutive successes. Both changes are dated to the first of these checks. A pending
    monitor is up after its first success.

    A blind period, in which this service was offline or made no check, ends the streak but does not change
    the settled state. The streak ends because this service itself may have caused a failure just before or
    after the period.
    """
    was_unwatched = health.seen_until is not None and checked_at > health.seen_until
    before = _blinded(health) if was_unwatched else health
    threshold = recovery_threshold if health.settled == State.DOWN else failure_threshold
    seen_until = checked_at + timedelta(seconds=interval_seconds) + GRACE
    after, since = _weigh(before, outcome, checked_at, threshold, seen_until)

    changes = []
    if before.is_blind and not health.is_blind and health.seen_until:
        changes.append(Transition(health.seen_until, State.UNKNOWN))
    if _counted_as(after) != _counted_as(before):
        changes.append(Transition(since, _counted_as(after)))
    was_down, is_down = health.settled == State.DOWN, after.settled == State.DOWN
    return Observation(
        health=after,
        changes=tuple(changes),
        opened_at=since if is_down and not was_down else None,
        resolved_at=since if was_down and not is_down else None,
    )


def outcome_in_maintenance(outcome: Outcome) -> Outcome:
    """Return how the outcome of a check in maintenance counts: UNKNOWN for a failure, otherwise `outcome`.

    A failure therefore opens no incident, and the time from the end of the maintenance to the next check
    counts as unknown. A success resolves an incident that was opened before the maintenance.
    """
    return Outcome.UNKNOWN if outcome == Outcome.DOWN else outcome


def status_of(health: Health) -> str:
    """Return the MonitorStatus of a monitor that is neither paused nor in maintenance."""
    if health.is_blind:
        return "unknown"
    if health.settled == State.DOWN:
        return "down"
    if health.streak:
        return "validating"
    return "degraded" if health.is_degraded else str(health.settled)


def _weigh(
    health: Health, outcome: Outcome, checked_at: datetime, threshold: int, seen_until: datetime
) -> tuple[Health, datetime]:
    """Return the new health, and the time from which it holds."""
    if outcome == Outcome.UNKNOWN:
        return _blinded(health)._replace(seen_until=seen_until), checked_at
    is_contrary = (outcome == Outcome.DOWN) != (health.settled == State.DOWN)
    streak = health.streak + 1
    streak_started_at = health.streak_started_at or checked_at
    if is_contrary and streak < threshold:
        tried = Health(
            health.settled, streak=streak, streak_started_at=streak_started_at, seen_until=seen_until
        )
        return tried, checked_at
    settled = State.DOWN if outcome == Outcome.DOWN else State.UP
    believed = Health(settled, is_degraded=outcome == Outcome.DEGRADED, seen_until=seen_until)
    return believed, streak_started_at if is_contrary else checked_at


def _blinded(health: Health) -> Health:
    return health._replace(is_blind=True, streak=0, streak_started_at=None)


def _counted_as(health: Health) -> State:
    return State.UNKNOWN if health.is_blind else health.settled
