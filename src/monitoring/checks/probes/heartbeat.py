"""The probe of a `heartbeat` monitor: it sends no request, and determines whether a ping is late.

Receiving a ping stores a result (`checks/heartbeats/pings.py`), and makes the monitor due at the time from
which the next ping would be late. A check of a due monitor therefore finds that a ping is missing, unless
something has changed since.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self
from uuid import UUID

from monitoring.backends.current import current_backends
from monitoring.checks.probes.protocol import Finding, Objection, read_settings
from monitoring.monitors.health import Outcome, State
from monitoring.monitors.heartbeats.models import Heartbeat, PingKind, PingReception
from monitoring.monitors.heartbeats.reception import LONGEST_SILENCE
from monitoring.monitors.heartbeats.schedules import Schedule
from monitoring.monitors.maintenance.models import MaintenanceSpan
from monitoring.monitors.models import HEARTBEAT

if TYPE_CHECKING:  # at run time, these imports would load a library
    from monitoring.outbound.dialer import Dialer

# How soon to check again while pings cannot be received.
LOOK_AGAIN = timedelta(minutes=1)


# Faults that a lost ping can cause.
MISSING_PING = frozenset({Objection.PING_MISSING, Objection.JOB_UNFINISHED})


class HeartbeatProbe:
    """Reads from the database what is known about the job, and evaluates this information."""

    columns: ClassVar[tuple[str, ...]] = ("settings",)
    endpoint = None

    def __init__(self, monitor_id: UUID, schedule: Schedule) -> None:
        self._monitor_id = monitor_id
        self._schedule = schedule

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """Read a monitor's schedule."""
        return cls(row["id"], Schedule.read(read_settings(HEARTBEAT, row)))

    async def ask(self, _: Dialer) -> Finding:
        """Determine whether a ping is late."""
        now = current_backends().clock.now()
        return judge(self._schedule, await _read_known(self._monitor_id, now), now)


class Known(NamedTuple):
    """What is known about a job. The first five fields are fields of `Heartbeat`.

    `is_down` and `is_blind` are the monitor's state before this check. `received_until` is the last time at
    which pings could be received. `interrupted_until` is when the last interruption of receiving pings ended,
    and `maintenance_until` is when the last maintenance ended.
    """

    counted_from: datetime | None
    ended_at: datetime | None
    ended_with: str | None
    exit_code: int | None
    started_at: datetime | None
    is_down: bool
    is_blind: bool
    maintenance_until: datetime | None
    received_until: datetime | None
    interrupted_until: datetime | None


def judge(schedule: Schedule, known: Known, now: datetime) -> Finding:
    """Determine whether a ping is late. Has no side effects.

    A ping may have been lost while this service could not receive pings. Such a ping does not count as
    missing, and the finding is UNKNOWN until the next deadline. A ping that was due in maintenance does not
    count as missing either. If the monitor is already down, the ping counts as missing in both of these
    cases.
    """
    deadline = _deadline_of(schedule, known, now)
    if deadline is None:
        return Finding(Outcome.UNKNOWN, message="No ping has come yet", holds_until=now + LOOK_AGAIN)
    if now < deadline and known.is_down and known.ended_with == PingKind.FAIL:
        return tell_failure(known.exit_code)._replace(holds_until=deadline)
    if now >= deadline and not known.is_down:
        if known.received_until is None or now - known.received_until > LONGEST_SILENCE:
            return _COULD_NOT_RECEIVE._replace(holds_until=now + LOOK_AGAIN)
        excused = _excuse(schedule, known, now)
        deadline = _deadline_of(schedule, excused, now) or deadline
        if now < deadline and excused.counted_from == known.interrupted_until:
            return _COULD_NOT_RECEIVE._replace(holds_until=deadline)
    if now >= deadline:
        return _tell_lateness(schedule, known, now)
    return Finding(Outcome.UNKNOWN if known.is_blind else Outcome.UP, holds_until=deadline)


def tell_failure(exit_code: int | None) -> Finding:
    """Return the finding for a job that reported a failure."""
    told = "The job reported a failure" if exit_code is None else f"The job ended with exit code {exit_code}"
    return Finding(Outcome.DOWN, Objection.JOB_FAILED, told)


_COULD_NOT_RECEIVE = Finding(
    Outcome.UNKNOWN, message="The service could not receive pings when one was expected"
)


def _deadline_of(schedule: Schedule, known: Known, now: datetime) -> datetime | None:
    # A machine whose clock is ahead may have dated these pings later than `now`, although they came earlier.
    counted_from, started_at = (each and min(each, now) for each in (known.counted_from, known.started_at))
    return schedule.deadline(counted_from, started_at)


def _excuse(schedule: Schedule, known: Known, now: datetime) -> Known:
    """Return `known` with the schedule restarted after an interruption that may explain the missing ping.

    The schedule restarts at the end of the last such interruption, as if a ping had come at that time.
    Maintenance also counts as an interruption here. A ping may come early by as much as it may be late, which
    is one grace time. An interruption may therefore explain the missing ping if it ended at most one grace
    time before the ping was expected, which is two grace times before the deadline.
    """
    ends = (known.interrupted_until, known.maintenance_until)
    for end in sorted(each for each in ends if each and each <= now):
        deadline = _deadline_of(schedule, known, now)
        if deadline is not None and end >= deadline - 2 * schedule.grace:
            known = known._replace(counted_from=end, started_at=None)
    return known


def _tell_lateness(schedule: Schedule, known: Known, now: datetime) -> Finding:
    """Return the finding for a late ping. The finding holds until the next ping is late, too."""
    grace = _in_words(schedule.grace)
    if (
        known.started_at is not None
        and _deadline_of(schedule, known, now) == known.started_at + schedule.grace
    ):
        fault = Objection.JOB_UNFINISHED
        message = f"The job started at {_moment(known.started_at)} and did not report its end within {grace}"
    else:
        fault = Objection.PING_MISSING
        counted_from = min(known.counted_from or now, now)
        last = f"The last ping came at {_moment(known.ended_at)}" if known.ended_at else "No ping came"
        expected = _moment(schedule.expected_after(counted_from))
        message = f"{last}; one was expected at {expected} and did not come within {grace}"
    return Finding(Outcome.DOWN, fault, message, holds_until=schedule.deadline_after(now))


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _in_words(duration: timedelta) -> str:
    seconds = duration // timedelta(seconds=1)
    for name, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds and seconds % length == 0:
            count = seconds // length
            return f"{count} {name}{'' if count == 1 else 's'}"
    return f"{seconds} {'second' if seconds == 1 else 'seconds'}"


async def _read_known(monitor_id: UUID, now: datetime) -> Known:
    rows = await Heartbeat.filter(monitor_id=monitor_id).values(
        *Known._fields[:5],
        settled="monitor__check_state__settled",
        is_blind="monitor__check_state__is_blind",
    )
    if not rows:  # the heartbeat was deleted, so the finding will not be used
        return Known(None, None, None, None, None, False, False, None, None, None)  # noqa: FBT003
    [row], reception = rows, await PingReception.first()
    ended = MaintenanceSpan.filter(monitor_id=monitor_id, ends_at__lte=now)
    maintenance = await ended.order_by("-ends_at").first()
    return Known(
        is_down=row.pop("settled") == State.DOWN,
        maintenance_until=maintenance.ends_at if maintenance else None,
        received_until=reception.received_until if reception else None,
        interrupted_until=reception.interrupted_until if reception else None,
        **row,
    )
