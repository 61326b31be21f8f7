"""Receives a ping: stores it and its consequences in one transaction."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.errors import TransactionConflict
from monitoring.checks.claims import claim_for_ping
from monitoring.checks.probes.heartbeat import tell_failure
from monitoring.checks.probes.protocol import Finding
from monitoring.checks.storing import Checked, store_within
from monitoring.contract.problems import Problem
from monitoring.monitors.health import GRACE, Outcome, State
from monitoring.monitors.heartbeats.appointments import schedule_of
from monitoring.monitors.heartbeats.models import Heartbeat, Ping, PingKind
from monitoring.monitors.heartbeats.schedules import Schedule
from monitoring.monitors.heartbeats.tokens import hash_token
from monitoring.monitors.models import CheckState, Monitor
from monitoring.notifications.tasks import nudge
from monitoring.outbound.stopwatch import Timings

MAX_BODY_BYTES = 10_000
KEPT_PINGS = 100

ATTEMPTS = 3

_MILLISECOND = timedelta(milliseconds=1)


class Sent(NamedTuple):
    """A ping as sent. `body` is the beginning of its body. `is_body_cut` means that the rest was left out."""

    kind: PingKind
    exit_code: int | None
    run_id: UUID | None
    method: str
    user_agent: str | None
    body: bytes
    is_body_cut: bool


async def take_ping(token: UUID, sent: Sent) -> None:
    """Store a ping and its consequences in one transaction, which is retried after a conflict.

    Raises Problem if no heartbeat has this token, and `DatabaseUnavailable`.
    """
    for is_last in (*[False] * (ATTEMPTS - 1), True):
        try:
            delivery_ids = await _take(token, sent)
        except TransactionConflict:
            if is_last:
                raise
        else:
            await nudge(delivery_ids)
            return


async def _take(token: UUID, sent: Sent) -> list[UUID]:
    async with transaction():
        heartbeat = await _lock(token)
        now = current_backends().clock.now()
        await _keep(heartbeat.monitor_id, sent, now)
        if sent.kind == PingKind.LOG:
            return []
        duration = _run(heartbeat, sent, now)
        await heartbeat.save()
        monitor = await Monitor.get(id=heartbeat.monitor_id)
        if monitor.paused:  # the ping and its run are recorded, but have no further effects
            return []
        schedule = schedule_of(monitor)
        if sent.kind == PingKind.START:
            await _expect_end(heartbeat, schedule, now)
            return []
        return await _store_result(heartbeat, schedule, duration, now)


async def _lock(token: UUID) -> Heartbeat:
    """Return the heartbeat with this token, and lock its check state until the transaction ends.

    The check state is locked first, because storing checks locks it first, too. Raises Problem if no
    heartbeat has the token.
    """
    token_sha256 = hash_token(token)
    found = await Heartbeat.get_or_none(token_sha256=token_sha256).only("monitor_id")
    if found and await CheckState.select_for_update().get_or_none(monitor_id=found.monitor_id):
        # The token may have been replaced while this transaction waited for the lock.
        heartbeat = await Heartbeat.get_or_none(token_sha256=token_sha256)
        if heartbeat:
            return heartbeat
    raise Problem("heartbeat_not_found")


def _run(heartbeat: Heartbeat, sent: Sent, now: datetime) -> timedelta | None:
    """Update `heartbeat` with what a ping reports, without saving it.

    Return the duration of the run that ended, if it is known. Runs may overlap. If a success has a `rid` that
    differs from that of the last start, the last started run stays in progress.
    """
    if sent.kind == PingKind.START:
        heartbeat.started_at, heartbeat.run_id = now, sent.run_id
        return None
    started_at, is_same_run = heartbeat.started_at, heartbeat.run_id == sent.run_id
    if is_same_run or sent.run_id is None or sent.kind == PingKind.FAIL:
        heartbeat.started_at = heartbeat.run_id = None
    heartbeat.counted_from = heartbeat.ended_at = now
    heartbeat.ended_with, heartbeat.exit_code = sent.kind, sent.exit_code
    return now - started_at if started_at and is_same_run else None


async def _keep(monitor_id: UUID, sent: Sent, now: datetime) -> None:
    """Store a ping as received, and delete all but the last hundred pings of its monitor."""
    body = sent.body.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    await Ping.create(
        monitor_id=monitor_id,
        received_at=now,
        kind=sent.kind,
        exit_code=sent.exit_code,
        run_id=sent.run_id,
        method=sent.method,
        user_agent=sent.user_agent,
        body=body or None,
        is_body_cut=sent.is_body_cut,
    )
    of_monitor = Ping.filter(monitor_id=monitor_id)
    outdated = await of_monitor.order_by("-id").offset(KEPT_PINGS).limit(1).values_list("id", flat=True)
    if outdated:
        await of_monitor.filter(id__lte=outdated[0]).delete()


async def _expect_end(heartbeat: Heartbeat, schedule: Schedule, now: datetime) -> None:
    """Set the monitor's due time to the deadline of the started run, unless the monitor is down."""
    check_state = await CheckState.get(monitor_id=heartbeat.monitor_id)
    deadline = schedule.deadline(heartbeat.counted_from, now)
    if check_state.settled != State.DOWN and deadline:
        changes = {"due_at": max(deadline, now), "next_check_at": deadline, "claim": None}
        if check_state.seen_until:
            changes["seen_until"] = max(check_state.seen_until, deadline + GRACE)
        await CheckState.filter(id=check_state.id).update(**changes)


async def _store_result(
    heartbeat: Heartbeat, schedule: Schedule, duration: timedelta | None, now: datetime
) -> list[UUID]:
    """Store a ping that ended a run as the result of a check.

    Return the ids of deliveries to send after the commit, with `nudge`.
    """
    claimed = await claim_for_ping(heartbeat.monitor_id, now)
    assert claimed is not None  # noqa: S101 - it is locked, and not paused
    if heartbeat.ended_with == PingKind.FAIL:
        finding = tell_failure(heartbeat.exit_code)
    else:
        finding = Finding(Outcome.UP)
    finding = finding._replace(
        timings=Timings(total_ms=None if duration is None else duration / _MILLISECOND),
        holds_until=schedule.deadline(heartbeat.counted_from, heartbeat.started_at),
    )
    stored = await store_within([Checked(claimed, claimed.date(now), finding)], now)
    return stored.delivery_ids
