"""The history of a monitor's checks: made-up answers, judged and stored as real ones are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

from browser.acme.answers import answer
from browser.acme.days import DAY, HOUR, write_days
from incidents.breakdowns import open_incident
from monitoring.backends.database import transaction
from monitoring.checks.probes.failing_answers import keep_answer
from monitoring.checks.probes.http import Expectation, judge
from monitoring.checks.slots import next_slot
from monitoring.history.models import CheckResult
from monitoring.history.queries import insert_results
from monitoring.incidents.models import Resolution
from monitoring.incidents.service import resolve_incident
from monitoring.monitors.health import (
    Health,
    Observation,
    State,
    observe,
    outcome_in_maintenance,
    status_of,
)
from monitoring.monitors.health import StateChange as Change
from monitoring.monitors.models import Monitor, StateChange, Watch
from monitoring.outbound.exchanges import Exchange

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from browser.acme.answers import Trouble
    from monitoring.checks.probes.protocol import Finding
    from monitoring.contract.document import Json

# The time of which every check has a row. Of what was before it, there are only sums.
RECENT = DAY + HOUR


@dataclass(frozen=True, slots=True)
class Turn:
    """A moment at which a monitor went down or came back."""

    happened_at: datetime
    monitor: Monitor
    observation: Observation
    result: CheckResult


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
    begun_at = max(now - age, now - RECENT)
    if age > RECENT:
        await write_days(
            monitor, now - age, begun_at, now, typical_ms=typical_ms, troubles=troubles, chance=chance
        )
        health = Health(State.UP)
        changes[now - age] = State.UP
        turns = list(_find_earlier_turns(monitor, now, troubles, chance))
        for turn in turns:
            changes.update(turn.observation.changes)
    for checked_at in _slots(monitor, begun_at, now):
        exchange = answer(checked_at, now, typical_ms, troubles, chance)
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


def _slots(monitor: Monitor, moment: datetime, now: datetime) -> Iterable[datetime]:
    """Yield the times of checks."""
    while (moment := next_slot(monitor.id, monitor.interval_seconds, moment)) <= now:
        yield moment


def _find_earlier_turns(
    monitor: Monitor, now: datetime, troubles: Iterable[Trouble], chance: Random
) -> Iterable[Turn]:
    """Yield the turns before those that checks have rows of. The second failure confirms an outage."""
    for trouble in troubles:
        if trouble.is_outage and trouble.since - trouble.long > RECENT:
            begun_at = now - trouble.since
            ended_at = begun_at + trouble.long
            confirmed_at = begun_at + timedelta(seconds=monitor.interval_seconds)
            exchange = answer(begun_at, now, 0, [trouble], chance)
            result = _result_of(monitor, confirmed_at, judge(exchange, _expectation_of(monitor), begun_at))
            down, up = Change(begun_at, State.DOWN), Change(ended_at, State.UP)
            yield Turn(begun_at, monitor, Observation(Health(State.DOWN), (down,), begun_at, None), result)
            yield Turn(ended_at, monitor, Observation(Health(State.UP), (up,), None, ended_at), result)


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
