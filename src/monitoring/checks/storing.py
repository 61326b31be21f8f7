"""Stores the results of many checks in one transaction, with their consequences, such as incidents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from tortoise.backends.base.client import BaseDBAsyncClient

from monitoring.backends.database import transaction
from monitoring.backends.fields import uuid7_text
from monitoring.checks import queries
from monitoring.checks.claims import Claimed
from monitoring.checks.interruptions import Interrupted, announce_interruptions
from monitoring.checks.probes.protocol import Finding
from monitoring.checks.slots import next_check_at
from monitoring.history.models import CheckResult
from monitoring.history.queries import insert_results, list_results
from monitoring.incidents.models import Incident, Resolution
from monitoring.incidents.service import Ending, Opening, open_incidents, resolve_incidents
from monitoring.monitors.announcements import Warned, announce_warnings
from monitoring.monitors.health import Observation, Outcome, State, observe, outcome_in_maintenance, status_of
from monitoring.monitors.heartbeats.models import Heartbeat
from monitoring.monitors.models import StateChange
from monitoring.monitors.warnings import Warnings, weigh_certificate, weigh_degradation
from monitoring.notifications.tasks import nudge

MAX_MESSAGE_CHARACTERS = 255
MAX_MS = 86_400_000

_MICROSECOND = timedelta(microseconds=1)


class Checked(NamedTuple):
    """A finished check of a claimed monitor, which began at `checked_at`, and what it found."""

    claimed: Claimed
    checked_at: datetime
    finding: Finding


async def store(outcomes: Sequence[Checked], now: datetime) -> list[UUID]:
    """Store all results or none, and return the ids of the monitors whose results were stored.

    If a monitor has been paused, deleted or claimed by another checker, its result is dropped. A result that
    is already stored is also dropped, so the call may be repeated with the same results after
    `DatabaseUnavailable`.
    """
    stored = await store_within(outcomes, now)
    await nudge(stored.delivery_ids)
    return stored.monitor_ids


class Stored(NamedTuple):
    """The ids of monitors whose results were stored, and of deliveries to send after the commit."""

    monitor_ids: list[UUID]
    delivery_ids: list[UUID]


async def store_within(outcomes: Sequence[Checked], now: datetime) -> Stored:
    """Store results as `store` does, in the caller's transaction if there is one."""
    weighed = {each.claimed.monitor_id: _weigh(await _rewind(each), now) for each in outcomes}
    delivery_ids: list[UUID] = []
    async with transaction() as connection:
        # Updating the check states locks them. They are locked first, as in all transactions. Until the
        # commit, the monitors cannot be paused or deleted.
        held = [weighed[monitor_id] for monitor_id in await _update_check_states(connection, weighed)]
        if held:
            await insert_results(connection, [each.result for each in held])
            await _forget_future([each.checked for each in held])
            await _insert_state_changes(connection, held)
            await _update_statuses(connection, held)
            delivery_ids = [
                *await _tell_incidents(held),
                *await _tell_warnings(held),
                *await _tell_interruptions(held),
            ]
    return Stored([each.monitor_id for each in held], delivery_ids)


class _Weighed(NamedTuple):
    """A check, and the consequences of its finding."""

    checked: Checked
    observation: Observation
    warnings: Warnings
    result: CheckResult
    next_check_at: datetime

    @property
    def monitor_id(self) -> UUID:
        return self.checked.claimed.monitor_id


def _weigh(checked: Checked, now: datetime) -> _Weighed:
    claimed, outcome, holds_until = checked.claimed, checked.finding.outcome, checked.finding.holds_until
    if holds_until:
        claimed = claimed.until(holds_until, checked.checked_at)
    is_in_maintenance = claimed.is_in_maintenance(checked.checked_at)
    observation = observe(
        claimed.health,
        outcome_in_maintenance(outcome) if is_in_maintenance else outcome,
        checked.checked_at,
        interval_seconds=claimed.interval_seconds,
        failure_threshold=claimed.failure_threshold,
        recovery_threshold=claimed.recovery_threshold,
    )
    is_settling = observation.health.streak > 0
    planned_at = holds_until or next_check_at(
        claimed.monitor_id,
        is_settling=is_settling,
        interval_seconds=claimed.interval_seconds,
        retry_interval_seconds=claimed.retry_interval_seconds,
        # The retry interval counts from the end of this check. The next slot counts from its beginning.
        now=now if is_settling else checked.checked_at,
    )
    if is_in_maintenance and observation.health.is_blind and claimed.maintenance_until:
        planned_at = min(planned_at, claimed.maintenance_until)  # failures count again from that time on
    return _Weighed(
        checked,
        observation,
        _weigh_warnings(checked),
        _record(claimed.monitor_id, checked.checked_at, checked.finding),
        planned_at,
    )


def _weigh_warnings(checked: Checked) -> Warnings:
    claimed, finding = checked.claimed, checked.finding
    if claimed.is_in_maintenance(checked.checked_at):
        return claimed.warnings
    expires_at = finding.certificate_expires_at
    return weigh_degradation(
        weigh_certificate(claimed.warnings, expires_at - checked.checked_at if expires_at else None),
        finding.outcome,
        failure_threshold=claimed.failure_threshold,
        recovery_threshold=claimed.recovery_threshold,
    )


async def _update_check_states(connection: BaseDBAsyncClient, weighed: Mapping[UUID, _Weighed]) -> list[UUID]:
    """Update the check states whose claims still hold, end the claims, and return the monitors' ids."""
    rows = [_check_state_of(weighed[monitor_id]) for monitor_id in sorted(weighed)]
    held = await queries.update_check_states(connection, rows)
    return [monitor_id for monitor_id in sorted(weighed) if str(monitor_id) in held]


def _check_state_of(weighed: _Weighed) -> dict[str, Any]:
    health, result = weighed.observation.health, weighed.result
    return {
        "monitor_id": weighed.monitor_id,
        "claim": weighed.checked.claimed.claim,
        "next_check_at": weighed.next_check_at,
        "last_checked_at": result.checked_at,
        "last_response_time_ms": result.response_time_ms,
        "last_error": result.error,
        "certificate_expires_at": weighed.checked.finding.certificate_expires_at,
        "settled": health.settled,
        "is_degraded": health.is_degraded,
        "is_blind": health.is_blind,
        "streak": health.streak,
        "streak_started_at": health.streak_started_at,
        "seen_until": health.seen_until,
        **weighed.warnings._asdict(),
    }


async def _insert_state_changes(connection: BaseDBAsyncClient, held: Sequence[_Weighed]) -> None:
    """Record state changes. A change replaces an earlier change of the same monitor at the same time."""
    rows = [
        {"id": uuid7_text(), "monitor_id": each.monitor_id, "changed_at": changed_at, "state": state}
        for each in held
        for changed_at, state in each.observation.changes
    ]
    if rows:
        await queries.insert_state_changes(connection, rows)


async def _update_statuses(connection: BaseDBAsyncClient, held: Sequence[_Weighed]) -> None:
    """Update monitors whose status has changed. Their versions stay the same, because nothing was edited."""
    rows = [
        {"monitor_id": each.monitor_id, "status": status, "changed_at": each.result.checked_at}
        for each in held
        if (status := _status_of(each)) != each.checked.claimed.status
    ]
    if rows:
        await queries.update_statuses(connection, rows)


def _status_of(weighed: _Weighed) -> str:
    if weighed.checked.claimed.is_in_maintenance(weighed.checked.checked_at):
        return State.MAINTENANCE
    return status_of(weighed.observation.health)


async def _tell_incidents(held: Sequence[_Weighed]) -> list[UUID]:
    """Open and resolve the monitors' incidents, and return the ids of the deliveries that report them."""
    opened = await open_incidents([_opening_of(each) for each in held if each.observation.opened_at])
    resolved = await resolve_incidents(
        [
            Ending(
                monitor=each.checked.claimed.subject,
                resolved_at=each.observation.resolved_at,
                resolution=Resolution.RECOVERED,
            )
            for each in held
            if each.observation.resolved_at
        ]
    )
    return opened + resolved


async def _tell_warnings(held: Sequence[_Weighed]) -> list[UUID]:
    """Announce warnings, which open no incident, and return the ids of the deliveries that report them."""
    return await announce_warnings(
        [
            Warned(
                monitor=each.checked.claimed.subject,
                before=each.checked.claimed.warnings,
                after=each.warnings,
                checked_at=each.result.checked_at,
                message=each.result.error_message,
                certificate_expires_at=each.checked.finding.certificate_expires_at,
            )
            for each in held
            if each.warnings != each.checked.claimed.warnings
        ]
    )


async def _tell_interruptions(held: Sequence[_Weighed]) -> list[UUID]:
    """Notify teams that this service was offline, if their monitors became unknown as a result.

    Return the ids of the deliveries that report this.
    """
    interrupted = [
        Interrupted(claimed.subject, checked_at, claimed.last_checked_at)
        for claimed, checked_at, finding in (each.checked for each in held)
        if finding.outcome == Outcome.UNKNOWN
        and not claimed.health.is_blind
        and not claimed.is_in_maintenance(checked_at)
    ]
    return await announce_interruptions(interrupted) if interrupted else []


def _opening_of(weighed: _Weighed) -> Opening:
    observation, result = weighed.observation, weighed.result
    assert observation.opened_at is not None  # noqa: S101 - the caller has checked it
    assert result.error is not None  # noqa: S101 - only a failure opens an incident
    assert result.error_message is not None  # noqa: S101
    return Opening(
        monitor=weighed.checked.claimed.subject,
        started_at=observation.opened_at,
        confirmed_at=result.checked_at,
        error=result.error,
        error_message=result.error_message,
        answer=weighed.checked.finding.answer,
    )


def _record(monitor_id: UUID, checked_at: datetime, finding: Finding) -> CheckResult:
    """Return a check's result as it is stored."""
    timings = finding.timings
    return CheckResult(
        monitor_id=monitor_id,
        checked_at=checked_at,
        outcome=str(finding.outcome),
        status_code=finding.status_code,
        response_time_ms=_in_whole_ms(timings.total_ms),
        dns_ms=_in_whole_ms(timings.dns_ms),
        connect_ms=_in_whole_ms(timings.connect_ms),
        tls_ms=_in_whole_ms(timings.tls_ms),
        first_byte_ms=_in_whole_ms(timings.first_byte_ms),
        error=None if finding.error is None else str(finding.error),
        error_message=_shorten(finding.message),
    )


def _in_whole_ms(ms: float | None) -> int | None:
    return None if ms is None else min(max(round(ms), 0), MAX_MS)


def _shorten(message: str | None) -> str | None:
    """Shorten a message to fit its column. Remove NUL, which libraries may emit but PostgreSQL rejects."""
    return None if message is None else message.replace("\0", "")[:MAX_MESSAGE_CHARACTERS]


async def _rewind(checked: Checked) -> Checked:
    """Return a check, changed as if no results with a later time were stored.

    A machine whose clock was ahead may have stored such results. The results are kept, but the last result
    before this check counts as the previous result. The time between that result and this check counts as
    unknown.
    """
    if not _follows_the_future(checked):
        return checked
    claimed, checked_at = checked.claimed, checked.checked_at
    before = await list_results(claimed.monitor_id, before=checked_at, limit=1)
    seen_until = before[0].checked_at + _MICROSECOND if before else checked_at - _MICROSECOND
    health = claimed.health._replace(is_blind=False, streak=0, streak_started_at=None, seen_until=seen_until)
    # The empty status differs from every status, so the status and its time are written again.
    return checked._replace(claimed=claimed._replace(health=health, status=""))


async def _forget_future(stored: Iterable[Checked]) -> None:
    """Delete monitors' state changes that have a later time than these checks.

    If an open incident or a heartbeat has a time later than the check, set it to the time of the check. Runs
    in the caller's transaction, before the consequences of the checks are stored.
    """
    for checked in filter(_follows_the_future, stored):
        monitor_id, checked_at = checked.claimed.monitor_id, checked.checked_at
        await StateChange.filter(monitor_id=monitor_id, changed_at__gt=checked_at).delete()
        misdated = Incident.filter(monitor_id=monitor_id, resolved_at=None, confirmed_at__gt=checked_at)
        await misdated.filter(started_at__gt=checked_at).update(started_at=checked_at)
        await misdated.update(confirmed_at=checked_at)
        await Heartbeat.filter(monitor_id=monitor_id, counted_from__gt=checked_at).update(
            counted_from=checked_at, started_at=None
        )


def _follows_the_future(checked: Checked) -> bool:
    last_checked_at = checked.claimed.last_checked_at
    return checked.claimed.is_misdated or bool(last_checked_at and last_checked_at > checked.checked_at)
