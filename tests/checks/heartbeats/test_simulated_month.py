"""A month of jobs on a simulated clock: pinged, missed and looked for by the real code, beside an oracle."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from checks.heartbeats.oracle import Plan, Surroundings, Told, Watch
from checks.month import (
    BEGINNING,
    LATENESS,
    MONTH,
    TIMES,
    WINDOWS,
    Script,
    StepByStep,
    keep_maintenance_late,
    list_to_tell,
    list_told,
    plan_maintenance,
    rest_or_go_on,
    stretches_of,
    write_script,
)
from checks.oracle import Rules, Span, work_out
from checks.rounds import HOUR, MINUTE, SECOND
from monitoring.auth.service import create_team
from monitoring.backends.clock import Clock
from monitoring.backends.current import current_backends
from monitoring.backends.encryption import decrypt
from monitoring.checks.claims import claim_due
from monitoring.checks.heartbeats.pings import Sent, take_ping
from monitoring.checks.prober import Prober
from monitoring.checks.slots import next_slot
from monitoring.history.ranges import Range
from monitoring.history.uptime import measure_uptime
from monitoring.incidents.models import Incident
from monitoring.monitors.health import State
from monitoring.monitors.heartbeats.models import Heartbeat, PingKind, PingReception
from monitoring.monitors.heartbeats.reception import Receiver
from monitoring.monitors.maintenance.models import MaintenanceWindow
from monitoring.monitors.models import CheckState, Monitor, StateChange
from monitoring.monitors.service import create_monitor
from monitoring.notifications.service import create_channel
from temporary_backends import make_settings, temporary_backends

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence
    from pathlib import Path

    from monitoring.checks.claims import Claimed
    from monitoring.checks.connectivity import Connectivity
    from monitoring.checks.probes.protocol import Finding

pytestmark = [pytest.mark.anyio, pytest.mark.night("the month of checks is the gate's")]

JOBS = 28
DAY = timedelta(days=1)
BERLIN = ZoneInfo("Europe/Berlin")
GRACE = {"grace_seconds": 1800}


def every_day(hour: int, minute: int, zone: ZoneInfo) -> list[datetime]:
    """Write down when a clock on the wall shows this, each day once. Of two times, the first one counts."""
    days = [BEGINNING.replace(tzinfo=None) + number * DAY for number in range(-2, 35)]
    return [each.replace(hour=hour, minute=minute, tzinfo=zone).astimezone(UTC) for each in days]


# Sydney's clocks skip from two to three on 4 October, so the job runs at three, an hour before 16:30 UTC.
SYDNEY = [
    each - HOUR / 2 if each.day == 3 and each.month == 10 else each
    for each in every_day(2, 30, ZoneInfo("Australia/Sydney"))
]

# Berlin's show half past two twice on 25 October.
CRONS: list[tuple[dict[str, Any], Sequence[datetime]]] = [
    ({"cron": "30 2 * * *", "time_zone": "Europe/Berlin", **GRACE}, every_day(2, 30, BERLIN)),
    ({"cron": "30 2 * * *", "time_zone": "Australia/Sydney", **GRACE}, SYDNEY),
    (
        {"cron": "15 6,18 * * *", "time_zone": "America/New_York", "grace_seconds": 7200},
        sorted(each for hour in (6, 18) for each in every_day(hour, 15, ZoneInfo("America/New_York"))),
    ),
]
HOURLY = {"cron": "30 * * * *", "time_zone": "Europe/Berlin", "grace_seconds": 600}
HOURS = [BEGINNING + HOUR / 2 + number * HOUR for number in range(-24, 24 * 32)]
PERIODS = [
    {"period_seconds": 43_200, "grace_seconds": 3600},
    {"period_seconds": 86_400, "grace_seconds": 3600},
    {"period_seconds": 21_600, "grace_seconds": 60},
]


@dataclass
class Job:
    """A job: when it is expected to run, what it sends, and what of it arrived."""

    monitor: Monitor
    token: UUID
    script: Script
    expected_after: Callable[[datetime], datetime]
    grace: timedelta
    told: list[Told] = field(default_factory=list)


def choose_schedule(number: int) -> tuple[dict[str, Any], Callable[[datetime], datetime]]:
    """Choose a heartbeat's settings, and how to say when a ping is expected."""
    if number and number % 2 == 0:
        periodic = PERIODS[number // 2 % len(PERIODS)]
        period = timedelta(seconds=periodic["period_seconds"])
        return periodic, lambda moment: moment + period
    settings, moments = CRONS[number // 2 % len(CRONS)] if number else (HOURLY, HOURS)
    return settings, lambda moment: moments[bisect_right(moments, moment)]


def list_pings(job: Job, chance: Random) -> Iterator[tuple[datetime, PingKind, int | None]]:
    """List what a job sends: it may start late, fail or never end, and while it is away it is silent."""

    def some_time(longest: timedelta) -> timedelta:
        return chance.randrange(longest // SECOND) * SECOND

    expected = BEGINNING + some_time(job.grace)
    while expected < BEGINNING + MONTH:
        began_at = expected + some_time(job.grace / 2)
        fate = chance.random()
        if fate < 0.02:
            began_at += 2 * job.grace
        ended_at = began_at + some_time(job.grace * 3 / 4)
        if not job.script.is_away(began_at, chance):
            if chance.random() < 0.5:
                yield began_at, PingKind.START, None
            if 0.02 < fate < 0.05:
                yield ended_at, PingKind.FAIL, chance.choice((None, 1, 137))
            elif fate > 0.07:
                yield ended_at, PingKind.SUCCESS, None
        expected = max(job.expected_after(expected), ended_at + SECOND)


class World:
    """The clock, the truth, and who looks at it. `is_blind` is that of `Connectivity`."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.now = BEGINNING
        self.chance = Random(seed)  # noqa: S311 - a script that repeats
        days = [BEGINNING + number * DAY for number in (5, 9, 12, 19, 22, 26)]
        starts = [day + self.chance.randrange(20) * HOUR for day in days]
        self.blind = [(starts[0], starts[0] + 3 * HOUR)]
        nobody = [(starts[1], starts[1] + 7 * HOUR), (starts[2], starts[2] + 95 * MINUTE)]
        self.deaf = [*nobody, (starts[3], starts[3] + 4 * HOUR)]
        self.stopped = [*nobody, (starts[4], starts[4] + 5 * HOUR), (starts[5], starts[5] + 2 * MINUTE)]
        self.rounds: list[datetime] = []
        self.interruptions = [end for _, end in self.deaf]
        nobody_else: Any = None
        self.prober = Prober(nobody_else, nobody_else, cast("Connectivity", self), nobody_else)
        self.checker = StepByStep(make_settings(folder, checks_at_once=100), self.probe, now=lambda: self.now)
        self.clock = Clock(
            read_machine_time=lambda: self.now, monotonic=lambda: (self.now - BEGINNING) / SECOND
        )

    async def is_blind(self, _: float, *, is_news: bool) -> bool:  # noqa: ARG002
        if is_in(self.blind, self.now):
            self.interruptions.append(self.now)
        return is_in(self.blind, self.now)

    async def probe(self, claimed: Claimed) -> Finding:
        return await self.prober.ask(claimed.probe, is_down=claimed.health.settled == State.DOWN)

    async def live_through_the_month(self, jobs: Sequence[Job]) -> None:
        """Go from event to event, and look whenever a look is planned."""
        await Receiver().note()
        events: list[tuple[datetime, Callable[[], Awaitable[None]]]] = []
        for job in jobs:
            for at, paused in job.script.turns:
                events.append((at, partial(rest_or_go_on, job.monitor.id, at, paused=paused)))
        for job in jobs:
            for at, kind, exit_code in list_pings(job, self.chance):
                events.append((at, partial(self.send_ping, job, kind, exit_code)))
        for start, end in self.deaf:
            events += [(start, self.note_reception), (end, Receiver().note)]
        for at, happen in sorted(events, key=lambda event: event[0]):
            await self.look_until(min(at, BEGINNING + MONTH))
            if at >= BEGINNING + MONTH:
                break
            self.now = at
            await happen()

    async def look_until(self, end: datetime) -> None:
        """Do what checkers and workers do until then."""
        while (at := max(await self.next_moment(), self.now + SECOND)) < end:
            self.now = at
            await keep_maintenance_late(at)
            if not is_in(self.deaf, at):
                await self.note_reception()
            if is_in(self.stopped, at):
                continue
            if self.chance.random() < 0.03:  # who dies tells nobody what came of it
                await claim_due(at, 1000)
                continue
            self.rounds.append(at)
            await self.checker.check_once()

    async def next_moment(self) -> datetime:
        """Return when somebody is due or a window is, or when checkers come back."""
        state = await CheckState.exclude(due_at=None).order_by("due_at").first()
        due_at = state.due_at if state and state.due_at else BEGINNING + MONTH
        due_at = max([due_at, *(end for start, end in self.stopped if start <= max(due_at, self.now) < end)])
        window = await MaintenanceWindow.exclude(due_at=None).order_by("due_at").first()
        return min(due_at, window.due_at + LATENESS) if window and window.due_at else due_at

    async def note_reception(self) -> None:
        """Do what has been done every two seconds until now."""
        await PingReception.all().update(received_until=self.now)

    async def send_ping(self, job: Job, kind: PingKind, exit_code: int | None) -> None:
        """Ping, which fails while nobody is there."""
        if is_in(self.deaf, self.now):
            return
        await take_ping(job.token, Sent(kind, exit_code, None, "POST", None, b"", is_body_cut=False))
        job.told.append(Told(self.now, kind))


def is_in(spans: Sequence[Span], moment: datetime) -> bool:
    return any(start <= moment < end for start, end in spans)


def merge(spans: Sequence[Span]) -> list[Span]:
    """Make one of those that overlap."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


async def make_jobs(world: World, team_id: UUID) -> list[Job]:
    jobs = []
    ages = {"created_at": BEGINNING, "status_changed_at": BEGINNING}
    for number in range(JOBS):
        settings, expected_after = choose_schedule(number)
        tags = world.chance.sample(list(WINDOWS), number % 4)
        given = {"type": "heartbeat", "name": f"Job {number}", "tags": tags, "heartbeat": settings}
        monitor = await create_monitor(team_id, given)
        await StateChange.filter(monitor_id=monitor.id).update(changed_at=BEGINNING)
        await Monitor.filter(id=monitor.id).update(**ages)
        heartbeat = await Heartbeat.get(monitor_id=monitor.id)
        script = write_script(world.chance)
        script.maintenance = merge([span for tag in tags for span in TIMES[tag]])
        grace = timedelta(seconds=settings["grace_seconds"])
        token = UUID(decrypt(heartbeat.encrypted_token))
        jobs.append(Job(monitor, token, script, expected_after, grace))
    await plan_maintenance(team_id)
    return jobs


def look_back(world: World, job: Job, end: datetime) -> None:
    """Work out what was found of a job."""
    maintenance = job.script.maintenance
    around = Surroundings(world.rounds, world.deaf, world.blind, world.interruptions, maintenance)
    look_after = partial(next_slot, job.monitor.id, job.monitor.interval_seconds)
    plan = Plan(job.expected_after, job.grace, look_after)
    for since, until, kind, _ in stretches_of(job.script, end):
        was_pinged = any(ping.at < since and ping.kind != PingKind.START for ping in job.told)
        told = [ping for ping in job.told if since <= ping.at < until]
        if kind == "active":
            job.script.checks += Watch(plan, around, since if was_pinged else None).live(told, until)


@pytest.mark.long(seconds=40)
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_after_a_month_of_jobs_uptime_and_incidents_are_the_truth(tmp_path: Path, seed: int) -> None:
    async with temporary_backends(tmp_path):
        world = World(tmp_path, seed)
        team = await create_team("Alice's team", "free", JOBS)
        jobs = await make_jobs(world, team.id)
        channel = await create_channel(team.id, {"type": "webhook", "url": "https://pager.example.com/"})
        with replace(current_backends(), clock=world.clock).activate():
            await world.live_through_the_month(jobs)
        seen: Counter[str] = Counter()
        end = BEGINNING + MONTH
        for job in jobs:
            look_back(world, job, end)
            interval = timedelta(seconds=job.monitor.interval_seconds)
            month = work_out(Rules(interval, 1, 1), stretches_of(job.script, end), job.script.maintenance)
            incidents = await Incident.filter(monitor_id=job.monitor.id).order_by("started_at")
            assert [(each.started_at, each.resolved_at) for each in incidents] == [
                (each.started_at, each.resolved_at) for each in month.incidents
            ]
            stored = await Monitor.get(id=job.monitor.id).select_related("check_state")
            _, uptime = (await measure_uptime(stored, Range(BEGINNING, end))).whole
            truth = month.seconds(BEGINNING, end)
            assert {name: getattr(uptime, f"{name}_seconds") for name in truth} == truth
            seen.update({name: round(seconds) for name, seconds in truth.items()})
            seen.update(each.error for each in incidents)
        assert await list_told(channel, "incident.opened", "incident.resolved") == await list_to_tell()
    assert min(seen.values()) > 0
    assert {"ping_missing", "job_unfinished", "job_failed"} < seen.keys()
