"""The history of a monitor's checks: made-up answers, judged and stored as real ones are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from math import pi, sin
from random import Random
from typing import TYPE_CHECKING

from incidents.breakdowns import open_incident
from monitoring.backends.database import transaction
from monitoring.checks.probes.failing_answers import keep_answer
from monitoring.checks.probes.http import Expectation, judge
from monitoring.checks.results import CheckResult, insert_results
from monitoring.checks.slots import next_slot
from monitoring.incidents.models import Resolution
from monitoring.incidents.service import resolve_incident
from monitoring.monitors.health import Health, State, observe, outcome_in_maintenance, status_of
from monitoring.monitors.models import Monitor, StateChange, Watch
from monitoring.outbound.exchanges import Exchange
from monitoring.outbound.failures import Failure, FailureCode
from monitoring.outbound.stopwatch import Timings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from monitoring.checks.probes.protocol import Finding
    from monitoring.contract.document import Json
    from monitoring.monitors.health import Observation

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A time in which a server does not answer, answers with a status, or answers slowly.

    It begins `since` before now and lasts `long`.
    """

    since: timedelta
    long: timedelta
    status_code: int = 200
    slower_by_ms: int = 0
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A moment at which a monitor went down or came back."""

    happened_at: datetime
    monitor: Monitor
    observation: Observation
    result: CheckResult


NO_ANSWER = Failure(FailureCode.TIMEOUT, "No answer within 15 seconds")


async def write_history(  # noqa: PLR0913 - the parts of a story
    monitor: Monitor,
    now: datetime,
    *,
    typical_ms: int,
    troubles: Sequence[Trouble] = (),
    age: timedelta = DAY,
    maintenance: Sequence[tuple[timedelta, timedelta]] = (),
) -> list[Turn]:
    """Store what checks found from `age` ago until now, as if a checker had made them.

    `maintenance` began so long before now, and lasted so long. Return the turns, so that the incidents of
    several monitors can be stored in order.
    """
    chance = Random(monitor.name)  # noqa: S311 - the same history every time
    expectation = _expectation_of(monitor)
    health, status = Health(State.PENDING), monitor.status
    results: list[CheckResult] = []
    changes: dict[datetime, State] = {}
    turns: list[Turn] = []
    for checked_at in _slots(monitor, now, age):
        exchange = _answer(checked_at, now, typical_ms, troubles, chance)
        finding = judge(exchange, expectation, checked_at)
        is_silent = any(now - since <= checked_at < now - since + long for since, long in maintenance)
        observation = observe(
            health,
            outcome_in_maintenance(finding.outcome) if is_silent else finding.outcome,
            checked_at,
            interval_seconds=monitor.interval_seconds,
            failure_threshold=monitor.failure_threshold,
            recovery_threshold=monitor.recovery_threshold,
        )
        health = observation.health
        changes.update(observation.changes)
        results.append(_result_of(monitor, checked_at, finding))
        if observation.opened_at or observation.resolved_at:
            turns.append(Turn(checked_at, monitor, observation, results[-1]))
        if status_of(health) != status:
            status, monitor.status_changed_at = status_of(health), checked_at
    async with transaction() as connection:
        await insert_results(connection, results)
        await StateChange.filter(monitor_id=monitor.id).delete()
        await StateChange.bulk_create(
            StateChange(monitor_id=monitor.id, changed_at=moment, state=state)
            for moment, state in changes.items()
        )
        monitor.status, monitor.created_at = status, now - age
        await monitor.save(update_fields=["status", "status_changed_at", "created_at"])
        await Watch.filter(monitor_id=monitor.id).update(
            last_checked_at=results[-1].checked_at,
            last_response_time_ms=results[-1].response_time_ms,
            last_error=results[-1].error,
            certificate_expires_at=now + 61 * DAY,
            settled=health.settled,
            is_degraded=health.is_degraded,
            streak=health.streak,
            streak_started_at=health.streak_started_at,
            due_at=now + DAY,  # no checker runs here, which pages must not show
            next_check_at=next_slot(monitor.id, monitor.interval_seconds, now),
            seen_until=now + DAY,
        )
    return turns


async def tell_incidents(turns: Iterable[Turn]) -> None:
    """Open and resolve incidents, earliest first, because lists are ordered by when they were made."""
    for turn in sorted(turns, key=lambda turn: turn.happened_at):
        observation, result = turn.observation, turn.result
        if observation.opened_at and result.error and result.error_message:
            await open_incident(
                turn.monitor,
                started_at=observation.opened_at,
                confirmed_at=result.checked_at,
                error=result.error,
                error_message=result.error_message,
                answer=_keep_answer(result.status_code) if result.status_code else None,
            )
        if observation.resolved_at:
            await resolve_incident(
                turn.monitor, resolved_at=observation.resolved_at, resolution=Resolution.RECOVERED
            )


def _keep_answer(status_code: int) -> dict[str, Json]:
    headers = {
        b"date": [b"Tue, 24 Nov 2026 09:12:44 GMT"],
        b"server": [b"nginx"],
        b"content-type": [b"text/html; charset=utf-8"],
        b"retry-after": [b"120"],
        b"set-cookie": [b"session=f3a9"],
        b"x-cache": [b"MISS from edge-7.acme.example"],
    }
    return keep_answer(Exchange(status_code, headers=headers), {})


def _slots(monitor: Monitor, now: datetime, age: timedelta) -> Iterable[datetime]:
    """Yield the times of checks. Beyond a day, one an hour is enough for charts of months."""
    moment = now - age
    for _ in count():
        is_recent = now - moment <= DAY + timedelta(hours=1)
        moment = next_slot(monitor.id, monitor.interval_seconds if is_recent else 300, moment)
        if moment > now:
            return
        yield moment


def _answer(
    moment: datetime, now: datetime, typical_ms: int, troubles: Sequence[Trouble], chance: Random
) -> Exchange:
    busy = 1 + 0.18 * sin((moment.hour + moment.minute / 60 - 9) / 24 * 2 * pi)
    first_byte_ms = typical_ms * busy * chance.lognormvariate(0, 0.13) + (
        typical_ms if chance.random() < 0.01 else 0
    )
    status_code = 200
    for trouble in troubles:
        if timedelta() <= moment - (now - trouble.since) < trouble.long:
            if trouble.failure:
                return Exchange(failure=trouble.failure, timings=Timings(total_ms=trouble.slower_by_ms))
            status_code = trouble.status_code
            first_byte_ms += trouble.slower_by_ms * chance.uniform(0.8, 1.3)
    dns_ms, connect_ms, tls_ms = (chance.uniform(0.8, 1.3) * ms for ms in (4, 11, 19))
    total_ms = dns_ms + connect_ms + tls_ms + first_byte_ms + chance.uniform(1, 6)
    return Exchange(
        status_code=status_code,
        timings=Timings(
            dns_ms=dns_ms,
            connect_ms=connect_ms,
            tls_ms=tls_ms,
            first_byte_ms=first_byte_ms,
            total_ms=total_ms,
        ),
    )


def _expectation_of(monitor: Monitor) -> Expectation:
    return Expectation(
        expected_status_codes=tuple(monitor.expected_status_codes),
        required_keyword=None,  # made-up answers have no body
        forbidden_keyword=monitor.forbidden_keyword,
        tls_expiry_warning_days=monitor.tls_expiry_warning_days,
        slow_threshold_ms=monitor.slow_threshold_ms,
    )


def _result_of(monitor: Monitor, checked_at: datetime, finding: Finding) -> CheckResult:
    timings = {
        name: None if (ms := getattr(finding.timings, name)) is None else round(ms)
        for name in ("dns_ms", "connect_ms", "tls_ms", "first_byte_ms")
    }
    total_ms = finding.timings.total_ms
    return CheckResult(
        monitor_id=monitor.id,
        checked_at=checked_at,
        outcome=str(finding.outcome),
        status_code=finding.status_code,
        response_time_ms=None if total_ms is None else round(total_ms),
        error=None if finding.error is None else str(finding.error),
        error_message=finding.message,
        **timings,
    )
