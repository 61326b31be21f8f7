from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from checks.heartbeats.jobs import Job, look, look_blindly, make_job
from checks.rounds import HOUR, MINUTE, NOON, SECOND, read_states
from monitoring.audit.actors import Actor
from monitoring.checks.claims import claim_due, claim_misdated
from monitoring.checks.heartbeats.pings import KEPT_PINGS
from monitoring.contract.problems import Problem
from monitoring.history.queries import list_results
from monitoring.history.ranges import Range
from monitoring.history.uptime import measure_uptime
from monitoring.incidents.models import Incident
from monitoring.monitors.heartbeats.models import Heartbeat, Ping, PingKind, PingReception
from monitoring.monitors.maintenance.models import MaintenanceSpan
from monitoring.monitors.models import CheckState, Monitor
from monitoring.monitors.service import set_paused, update_monitor
from monitoring.notifications.models import NotificationDelivery
from monitoring.notifications.service import create_channel

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

ALICE = Actor("alice@example.com", uuid4(), "192.0.2.7")

DEADLINE = NOON + HOUR + 5 * MINUTE


async def status(job: Job) -> str:
    return (await job.read()).status


async def incidents(job: Job) -> list[tuple[Any, ...]]:
    rows = Incident.filter(monitor_id=job.monitor_id).order_by("started_at")
    return list(await rows.values_list("error", "started_at", "resolved_at"))


class TestSuccess:
    async def test_makes_a_pending_monitor_up_at_once(self) -> None:
        job = await make_job()
        assert await status(job) == "pending"
        assert (await job.read()).check_state.due_at is None
        await job.ping(NOON)
        monitor = await job.read()
        assert (monitor.status, monitor.check_state.due_at) == ("up", DEADLINE)
        [result] = await list_results(monitor.id, limit=10)
        assert (result.checked_at, result.outcome, result.response_time_ms) == (NOON, "up", None)

    async def test_recovers_at_once(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        await look(DEADLINE)
        await job.ping(DEADLINE + MINUTE)
        assert await status(job) == "up"
        assert await incidents(job) == [("ping_missing", DEADLINE, DEADLINE + MINUTE)]

    async def test_drops_the_look_that_is_under_way(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        [claimed] = await claim_due(DEADLINE, 2)
        await job.ping(DEADLINE + SECOND)
        assert (await job.read()).check_state.claim is None
        assert claimed.claim
        assert not await incidents(job)

    async def test_counts_a_ping_of_the_same_moment_too(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        await job.ping(NOON)
        assert len(await list_results(job.monitor_id, limit=10)) == 2

    async def test_of_many_at_once_all_are_stored(self) -> None:
        job = await make_job()
        await asyncio.gather(*(job.ping(NOON) for _ in range(10)))
        assert await Ping.filter(monitor_id=job.monitor_id).count() == 10
        assert len(await list_results(job.monitor_id, limit=20)) == 10


class TestFailure:
    @pytest.mark.parametrize(
        ("exit_code", "message"),
        [(None, "The job reported a failure"), (137, "The job ended with exit code 137")],
    )
    async def test_makes_the_monitor_down_at_once(self, exit_code: int | None, message: str) -> None:
        job = await make_job()
        await job.ping(NOON)
        await job.ping(NOON + MINUTE, PingKind.FAIL, exit_code=exit_code)
        assert await status(job) == "down"
        incident = await Incident.get(monitor_id=job.monitor_id)
        assert (incident.error, incident.error_message) == ("job_failed", message)

    async def test_is_told_to_channels(self) -> None:
        job = await make_job()
        await create_channel(
            job.team_id, {"type": "webhook", "name": "Ours", "url": "https://hooks.example.com/"}
        )
        await job.ping(NOON, PingKind.FAIL)
        await job.ping(NOON + MINUTE)
        events = [each.event for each in await NotificationDelivery.all().order_by("id")]
        assert events == ["incident.opened", "incident.resolved"]

    async def test_is_one_incident_until_a_success(self) -> None:
        job = await make_job()
        for minutes in range(3):
            await job.ping(NOON + minutes * MINUTE, PingKind.FAIL)
        await look(NOON + 10 * HOUR)
        assert len(await incidents(job)) == 1


class TestRuns:
    async def test_the_time_from_start_to_success_is_the_response_time(self) -> None:
        job = await make_job()
        await job.ping(NOON, PingKind.START)
        assert await status(job) == "pending"
        await job.ping(NOON + 90 * SECOND)
        [result] = await list_results(job.monitor_id, limit=10)
        assert result.response_time_ms == 90_000
        assert (await job.read()).check_state.last_response_time_ms == 90_000

    async def test_one_that_does_not_end_is_down(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        await job.ping(NOON + MINUTE, PingKind.START)
        assert await look(NOON + 6 * MINUTE - SECOND) == []
        [finding] = await look(NOON + 6 * MINUTE)
        assert finding.error == "job_unfinished"
        assert await status(job) == "down"

    async def test_a_first_one_that_does_not_end_is_down(self) -> None:
        job = await make_job()
        await job.ping(NOON, PingKind.START)
        [finding] = await look(NOON + 5 * MINUTE)
        assert finding.error == "job_unfinished"

    async def test_overlapping_ones_are_told_apart(self) -> None:
        job, one, other = await make_job(), uuid4(), uuid4()
        await job.ping(NOON, PingKind.START, run_id=one)
        await job.ping(NOON + MINUTE, PingKind.START, run_id=other)
        await job.ping(NOON + 2 * MINUTE, run_id=one)
        await job.ping(NOON + 4 * MINUTE, run_id=other)
        results = await list_results(job.monitor_id, limit=10)
        assert [result.response_time_ms for result in results] == [180_000, None]

    async def test_a_start_after_an_alarm_ends_none(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        await look(DEADLINE)
        due_at = (await job.read()).check_state.due_at
        await job.ping(DEADLINE + MINUTE, PingKind.START)
        assert await status(job) == "down"
        assert (await job.read()).check_state.due_at == due_at


class TestLog:
    async def test_changes_nothing_but_the_list(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        before = await CheckState.get(monitor_id=job.monitor_id).values()
        await job.ping(NOON + MINUTE, PingKind.LOG, body=b"half way")
        assert await CheckState.get(monitor_id=job.monitor_id).values() == before
        assert [ping.body for ping in await Ping.all().order_by("id")] == [None, "half way"]


class TestLateness:
    async def test_is_found_at_the_deadline_and_counts_from_there(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        assert await look(DEADLINE - SECOND) == []
        [finding] = await look(DEADLINE)
        assert finding.error == "ping_missing"
        assert (await read_states(await job.read()))[1:] == [(NOON, "up"), (DEADLINE, "down")]

    async def test_is_one_incident_however_many_pings_are_missing(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        for hours in range(1, 6):
            await look(DEADLINE + hours * HOUR)
        assert len(await incidents(job)) == 1

    async def test_by_cron_leaves_no_time_unknown(self) -> None:
        job = await make_job(cron="0 3 * * *", time_zone="Europe/Berlin", grace_seconds=1800)
        monitor = await job.read()
        await job.ping(NOON)
        await job.ping(NOON + 14 * HOUR)
        await look(NOON + 38 * HOUR + 30 * MINUTE)
        uptime = await measure_uptime(monitor, Range(NOON, NOON + 48 * HOUR, "day"))
        durations = uptime.whole[1]
        assert (durations.unknown_seconds, durations.down_seconds) == (0, 9.5 * 3600)

    async def test_of_a_job_that_was_never_pinged_is_none(self) -> None:
        job = await make_job()
        assert await look(NOON + 10_000 * HOUR) == []
        assert await status(job) == "pending"


class TestMaintenance:
    async def test_excuses_the_ping_that_was_due_in_it_long_after_its_end(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        over_at = DEADLINE - 5 * MINUTE
        await MaintenanceSpan.create(monitor_id=job.monitor_id, starts_at=NOON, ends_at=over_at)
        await look(DEADLINE)
        assert await status(job) == "up"
        await look(over_at + HOUR + 5 * MINUTE)
        assert await incidents(job) == [("ping_missing", over_at + HOUR + 5 * MINUTE, None)]


class TestOurOwnAbsence:
    async def test_accuses_nobody_while_pings_cannot_be_received(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        await PingReception.create(received_until=NOON + 30 * MINUTE)
        await look_blindly(DEADLINE)
        assert await status(job) == "unknown"
        assert not await incidents(job)

    async def test_accuses_nobody_of_a_ping_that_may_have_been_lost(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        back = NOON + 8 * HOUR
        await PingReception.create(received_until=back, interrupted_until=back)
        await look_blindly(back)
        assert await status(job) == "unknown"
        await PingReception.all().update(received_until=back + 2 * HOUR)
        await look_blindly(back + HOUR + 5 * MINUTE)
        assert await incidents(job) == [("ping_missing", back + HOUR + 5 * MINUTE, None)]

    async def test_is_over_with_the_next_ping(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        await PingReception.create(received_until=DEADLINE, interrupted_until=DEADLINE)
        await look_blindly(DEADLINE)
        await job.ping(DEADLINE + MINUTE)
        assert await status(job) == "up"

    async def test_of_the_checker_alone_excuses_nothing(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        await look(DEADLINE + 8 * HOUR)
        assert await status(job) == "down"

    @pytest.mark.parametrize("ahead", [HOUR, 24 * HOUR, 3650 * 24 * HOUR])
    async def test_a_clock_that_was_ahead_leaves_no_appointment_behind(self, ahead: Any) -> None:
        job = await make_job()
        await job.ping(NOON + ahead)
        assert await claim_due(NOON, 2) == []
        [claimed] = await claim_misdated(NOON, 2)
        assert claimed.monitor_id == job.monitor_id
        await CheckState.all().update(due_at=NOON, claim=None)
        await look(NOON)
        assert (await Heartbeat.get(monitor_id=job.monitor_id)).counted_from == NOON
        await look(DEADLINE)
        assert await status(job) == "down"

    async def test_an_appointment_far_ahead_is_believed(self) -> None:
        job = await make_job(period_seconds=30 * 86_400, grace_seconds=300)
        await job.ping(NOON)
        assert await claim_misdated(NOON + HOUR, 2) == []


class TestPausing:
    async def test_a_paused_monitor_stays_paused_and_keeps_its_pings(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        await set_paused(job.team_id, [job.monitor_id], paused=True, by=ALICE)
        await job.ping(NOON + MINUTE, PingKind.FAIL)
        monitor = await job.read()
        assert (monitor.status, monitor.check_state.due_at) == ("paused", None)
        assert await Ping.filter(monitor_id=job.monitor_id).count() == 2

    async def test_a_resumed_one_begins_anew(self) -> None:
        job = await make_job()
        await job.ping(NOON, PingKind.FAIL)
        for paused in (True, False):
            await set_paused(job.team_id, [job.monitor_id], paused=paused, by=ALICE)
        monitor = await job.read()
        since = monitor.status_changed_at
        assert (monitor.status, monitor.check_state.due_at) == ("pending", since + HOUR + 5 * MINUTE)
        await look(since + HOUR + 5 * MINUTE)
        assert await status(job) == "down"

    async def test_a_resumed_one_that_was_never_pinged_waits(self) -> None:
        job = await make_job()
        for paused in (True, False):
            await set_paused(job.team_id, [job.monitor_id], paused=paused, by=ALICE)
        assert (await job.read()).check_state.due_at is None


class TestChanging:
    async def test_a_shorter_period_counts_from_the_last_ping(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        await update_monitor(job.team_id, job.monitor_id, {"heartbeat": {"period_seconds": 60}})
        await CheckState.all().update(due_at=NOON + 6 * MINUTE)
        [finding] = await look(NOON + 6 * MINUTE)
        assert finding.error == "ping_missing"

    async def test_a_longer_period_ends_the_alarm(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        await look(DEADLINE)
        await update_monitor(job.team_id, job.monitor_id, {"heartbeat": {"period_seconds": 86_400}})
        await CheckState.all().update(due_at=DEADLINE + MINUTE)
        await look(DEADLINE + MINUTE)
        assert await status(job) == "up"

    async def test_of_one_that_was_never_pinged_makes_no_appointment(self) -> None:
        job = await make_job()
        await update_monitor(job.team_id, job.monitor_id, {"heartbeat": {"period_seconds": 60}})
        assert (await job.read()).check_state.due_at is None


class TestKeeping:
    async def test_the_last_hundred_pings_are_kept(self) -> None:
        job = await make_job()
        other = await make_job()
        await other.ping(NOON, PingKind.LOG)
        for number in range(KEPT_PINGS + 3):
            await job.ping(NOON + number * SECOND, PingKind.LOG, body=str(number).encode())
        kept = [ping.body for ping in await Ping.filter(monitor_id=job.monitor_id).order_by("id")]
        assert kept == [str(number) for number in range(3, KEPT_PINGS + 3)]
        assert await Ping.filter(monitor_id=other.monitor_id).count() == 1

    async def test_a_body_that_is_no_text_is_kept_as_far_as_it_is(self) -> None:
        job = await make_job()
        await job.ping(NOON, body=b"a\0b\xff")
        assert (await Ping.get()).body == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}"

    async def test_a_token_that_nobody_has_is_refused(self) -> None:
        job = await make_job()
        job.token = uuid4()
        with pytest.raises(Problem, match="heartbeat_not_found"):
            await job.ping(NOON)
        assert not await Ping.exists()

    async def test_a_deleted_monitor_takes_its_pings_along(self) -> None:
        job = await make_job()
        await job.ping(NOON)
        await Monitor.filter(id=job.monitor_id).delete()
        assert not await Ping.exists()
        assert not await Heartbeat.exists()
