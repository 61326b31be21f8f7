"""A clock that was ahead is set back: by an hour, or by the day that it was ahead for some seconds."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain, repeat
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from checks.rounds import (
    DOWN,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    UP,
    claim_one,
    found,
    ids_of,
    make_due,
    read_states,
)
from checks.watched_site import watched_site
from monitoring.backends.clock import Clock
from monitoring.checks.checker import run_checker
from monitoring.checks.claims import claim_due, claim_misdated
from monitoring.checks.storing import store
from monitoring.history.ranges import Range
from monitoring.history.rollups import HOURLY, read_progress, roll_up
from monitoring.history.uptime import measure_uptime
from monitoring.idempotency.models import IdempotencyKey
from monitoring.incidents.models import Incident
from monitoring.monitors.health import GRACE
from monitoring.monitors.models import CheckState, Monitor, PendingDeletion
from monitoring.monitors.service import update_monitor
from monitoring.worker import run_worker

if TYPE_CHECKING:
    from monitoring.backends.assembly import Backends
    from monitoring.checks.probes.protocol import Finding

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

INTERVAL = 60 * SECOND
AHEAD = [pytest.param(ahead, id=str(ahead)) for ahead in (HOUR, 24 * HOUR, 3650 * 24 * HOUR)]


async def check(finding: Finding, now: datetime) -> None:
    """Check the only monitor, planned by the clock of `now`."""
    await CheckState.all().update(due_at=now, next_check_at=now)
    await store(found([await claim_one(now)], finding, now), now)


async def check_misdated(finding: Finding, now: datetime) -> None:
    await store(found(await claim_misdated(now, 2), finding, now), now)


class TestAppointments:
    @pytest.mark.parametrize("ahead", AHEAD)
    async def test_of_a_clock_that_was_ahead_are_not_believed(self, ahead: timedelta) -> None:
        [monitor] = await make_due(interval_seconds=60)
        await check(UP, NOON + ahead)
        assert await claim_due(NOON, 2) == []
        assert ids_of(await claim_misdated(NOON, 2)) == [monitor.id]

    async def test_are_believed_as_far_ahead_as_the_interval_allows(self) -> None:
        [monitor] = await make_due(interval_seconds=60)
        farthest = NOON + INTERVAL + GRACE
        for due_at, is_claimed in ((farthest, False), (farthest + SECOND, True)):
            await CheckState.all().update(due_at=due_at, next_check_at=due_at)
            assert ids_of(await claim_misdated(NOON, 2)) == [monitor.id] * is_claimed

    async def test_of_monitors_that_are_seldom_checked_are_believed_for_longer(self) -> None:
        await make_due(interval_seconds=86_400)
        await CheckState.all().update(due_at=NOON + 23 * HOUR, next_check_at=NOON + 23 * HOUR)
        assert await claim_misdated(NOON, 2) == []

    async def test_of_paused_monitors_are_none(self) -> None:
        [monitor] = await make_due(since=NOON + HOUR, interval_seconds=60)
        await update_monitor(monitor.team_id, monitor.id, {"paused": True})
        assert await claim_misdated(NOON, 2) == []

    async def test_follow_the_clock_again_after_one_check(self) -> None:
        await make_due(interval_seconds=60)
        await check(UP, NOON + 24 * HOUR)
        await check_misdated(UP, NOON)
        check_state = await CheckState.get()
        assert check_state.due_at
        assert NOON < check_state.due_at <= NOON + INTERVAL
        assert check_state.next_check_at == check_state.due_at
        assert await claim_misdated(NOON, 2) == []

    async def test_that_a_client_asked_for_are_kept_though_the_clock_was_ahead(self) -> None:
        await make_due(interval_seconds=60)
        await check(UP, NOON + 24 * HOUR)
        claimed = await claim_misdated(NOON, 2)
        await CheckState.all().update(next_check_at=NOON + SECOND)  # while the check is under way
        await store(found(claimed, UP, NOON), NOON)
        assert (await CheckState.get()).due_at == NOON + SECOND

    async def test_begin_new_monitors_that_such_a_clock_has_created(self) -> None:
        [monitor] = await make_due(since=NOON + HOUR, failure_threshold=1)
        await check_misdated(UP, NOON)
        assert await read_states(monitor) == [(NOON - timedelta(microseconds=1), "unknown"), (NOON, "up")]


@pytest.mark.parametrize("ahead", AHEAD)
class TestWhatCounts:
    async def test_is_what_is_seen_now_and_the_time_in_between_is_unknown(self, ahead: timedelta) -> None:
        [monitor] = await make_due(failure_threshold=1, interval_seconds=60)
        await check(UP, NOON)
        await check(UP, NOON + ahead)
        back = NOON + 30 * SECOND
        await check_misdated(DOWN, back)
        told = await Monitor.get(id=monitor.id).select_related("check_state")
        assert (told.status, told.status_changed_at) == ("down", back)
        _, durations = (await measure_uptime(told, Range(NOON, back + MINUTE))).whole
        assert durations.unknown_seconds == pytest.approx(30, abs=0.001)
        assert durations.down_seconds == 60
        [incident] = await Incident.all()
        assert (incident.started_at, incident.resolved_at) == (back, None)

    async def test_has_no_changes_left_in_the_future(self, ahead: timedelta) -> None:
        [monitor] = await make_due(failure_threshold=1, recovery_threshold=1, interval_seconds=60)
        await check(UP, NOON)
        await check(DOWN, NOON + ahead)
        await check_misdated(UP, NOON + SECOND)
        assert all(changed_at <= NOON + SECOND for changed_at, _ in await read_states(monitor))
        assert (await read_states(monitor))[-1] == (NOON + SECOND, "up")

    async def test_lets_no_incident_end_before_it_began(self, ahead: timedelta) -> None:
        await make_due(failure_threshold=1, recovery_threshold=1, interval_seconds=60)
        await check(DOWN, NOON + ahead)
        await check_misdated(UP, NOON)
        [incident] = await Incident.all()
        assert incident.started_at == incident.confirmed_at == incident.resolved_at == NOON


async def test_hours_that_were_rolled_up_too_early_are_rolled_up_again() -> None:
    await make_due(interval_seconds=60)
    await check(UP, NOON)
    await roll_up(NOON + 24 * HOUR)
    assert await read_progress(HOURLY.name) == NOON + 23 * HOUR
    await roll_up(NOON + MINUTE)
    await roll_up(NOON + HOUR + 11 * MINUTE)
    assert await read_progress(HOURLY.name) == NOON + HOUR


async def test_nothing_is_deleted_for_its_age_by_a_clock_that_has_just_jumped(backends: Backends) -> None:
    [monitor] = await make_due()
    await Monitor.all().update(status="up")
    await CheckState.all().update(seen_until=NOON)
    doomed = PendingDeletion(
        monitor_id=monitor.id, team_id=monitor.team_id, deletion_id=uuid4(), delete_at=NOON
    )
    await doomed.save(force_create=True)
    await IdempotencyKey.create(
        team_id=monitor.team_id,
        key="key",
        request_sha256="",
        reply_status=201,
        reply_headers={},
        reply_body="",
        created_at=NOON,
    )
    readings = chain([NOON], repeat(NOON + 25 * HOUR))
    clock = Clock(read_machine_time=lambda: next(readings))
    await clock.read()
    async with run_worker(replace(backends, clock=clock)), asyncio.timeout(60):
        while not await Monitor.filter(status="unknown").exists():  # noqa: ASYNC110 - a row has no event
            await asyncio.sleep(0.02)
    assert await Monitor.exists(id=monitor.id)
    assert await IdempotencyKey.exists()
    async with run_worker(backends), asyncio.timeout(60):  # its clock has not jumped
        while await Monitor.exists(id=monitor.id) or await IdempotencyKey.exists():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_checker_whose_clock_is_set_back_checks_at_once_and_goes_on(backends: Backends) -> None:
    settings = {"checks_at_once": 5, "allowed_networks": ("127.0.0.0/8",)}
    ahead = 24 * HOUR
    clock = Clock(read_machine_time=lambda: datetime.now(UTC) + ahead)
    chosen = replace(backends, clock=clock, settings=backends.settings.model_copy(update=settings))
    async with watched_site() as site:
        [monitor] = await make_due(url=site.url("/status/200"), interval_seconds=30)
        async with run_checker(chosen), asyncio.timeout(60):
            while not await Monitor.filter(status="up").exists():  # noqa: ASYNC110 - a row has no event
                await asyncio.sleep(0.02)
            ahead = timedelta()
            set_back_at = datetime.now(UTC)
            await clock.read()
            while not await CheckState.filter(last_checked_at__lt=set_back_at + HOUR).exists():  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        [*_, unknown, up] = await read_states(monitor)
        assert (unknown[1], up[1]) == ("unknown", "up")
        assert set_back_at <= up[0] < set_back_at + HOUR
