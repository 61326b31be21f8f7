"""A month of checks on a simulated clock, claimed and stored by the real code, compared with an oracle."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from checks.oracle import Check, Month, Rules, work_out
from checks.rounds import DEGRADED, DOWN, MINUTE, SECOND, UNKNOWN, UP
from monitoring.auth.service import create_team
from monitoring.backends.database import transaction
from monitoring.checks.checker import Checker
from monitoring.checks.claims import claim_due
from monitoring.checks.slots import next_slot
from monitoring.history.ranges import Range
from monitoring.history.uptime import measure_uptime
from monitoring.incidents.models import Incident
from monitoring.monitors import rules
from monitoring.monitors.check_state import restart_checks
from monitoring.monitors.configuration import default_configuration
from monitoring.monitors.maintenance.covering import due_at_of
from monitoring.monitors.maintenance.keeping import keep_maintenance
from monitoring.monitors.maintenance.models import MaintenanceWindow
from monitoring.monitors.models import CheckState, Monitor, StateChange
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.service import create_channel
from temporary_backends import make_settings, temporary_backends

if TYPE_CHECKING:
    from pathlib import Path

    from monitoring.checks.claims import Claimed
    from monitoring.checks.probes.protocol import Finding
    from monitoring.checks.storing import Checked

pytestmark = pytest.mark.anyio

BEGINNING = datetime(2026, 10, 1, tzinfo=UTC)
MONTH = timedelta(days=30)

# The intervals divide each other, and ids are chosen so that all are checked in the first minute of an hour:
# a month of rounds is then hundreds, and not hundreds of thousands.
INTERVALS = (3600, 7200, 14400, 21600)
ROUND = timedelta(seconds=3600)
MONITORS = 200
BLIP_SECONDS = 5
LATENESS = 3 * SECOND

# By tag: from when on, for how long, and how often. The clocks of Berlin change on 25 October.
WINDOWS = {
    "weekly": (datetime(2026, 10, 4, 2, tzinfo=UTC), timedelta(hours=9), "FREQ=WEEKLY", "Europe/Berlin"),
    "monthly": (datetime(2026, 10, 13, tzinfo=UTC), timedelta(days=3), None, "UTC"),
    "overlapping": (datetime(2026, 10, 15, 22, 30, tzinfo=UTC), timedelta(days=2), None, "UTC"),
}
TIMES = {
    "weekly": [
        (start, start + timedelta(hours=9))
        for start in (datetime(2026, 10, day, 3 if day == 25 else 2, tzinfo=UTC) for day in (4, 11, 18, 25))
    ],
    "monthly": [(datetime(2026, 10, 13, tzinfo=UTC), datetime(2026, 10, 16, tzinfo=UTC))],
    "overlapping": [(datetime(2026, 10, 15, 22, 30, tzinfo=UTC), datetime(2026, 10, 17, 22, 30, tzinfo=UTC))],
}


def choose_id(chance: Random) -> UUID:
    while True:
        monitor_id = UUID(int=chance.getrandbits(128), version=4)
        if next_slot(monitor_id, INTERVALS[0], BEGINNING) - BEGINNING <= MINUTE:
            return monitor_id


@dataclass
class Script:
    """What happens to one monitor: when it is really away, and when people let it rest."""

    outages: list[tuple[datetime, datetime]]
    pauses: list[tuple[datetime, datetime]]
    blip_until: datetime = BEGINNING
    checks: list[Check] = field(default_factory=list)
    maintenance: list[tuple[datetime, datetime]] = field(default_factory=list)

    def is_away(self, now: datetime, chance: Random) -> bool:
        if now >= self.blip_until and chance.random() < 0.001:
            self.blip_until = now + BLIP_SECONDS * SECOND
        return now < self.blip_until or any(start <= now < end for start, end in self.outages)


def write_script(chance: Random) -> Script:
    def some_time(longest: timedelta) -> tuple[datetime, datetime]:
        start = BEGINNING + chance.random() * MONTH
        return start, start + chance.random() * longest

    outages = [some_time(timedelta(hours=12)) for _ in range(chance.randrange(4))]
    pauses: list[tuple[datetime, datetime]] = []
    for _ in range(chance.randrange(3)):
        start, end = some_time(timedelta(days=2))
        if all(end < other_start or start > other_end for other_start, other_end in pauses):
            pauses.append((start, end))
    return Script(outages, sorted(pauses))


class StepByStep(Checker):
    """A checker that does one round when it is told to."""

    async def check_once(self) -> list[Checked]:
        """Check what is due, as far as there is room, store what was found, and return it."""
        await self._claim()
        while self._running:
            await asyncio.wait(self._running)
            self._call_line()
        return await self._results.store_all()


class World:
    """The clock, the truth, and who looks at it."""

    def __init__(self, folder: Path) -> None:
        self.now = self.last_round = BEGINNING
        self.chance = Random(20261121)  # noqa: S311 - a script that repeats
        self.scripts: dict[UUID, Script] = {}
        many = {"checks_at_once": 5000, "checks_per_team": 5000, "checks_per_host": 5000}
        self.checker = StepByStep(make_settings(folder, **many), self.probe, now=lambda: self.now)
        days = [BEGINNING + number * timedelta(days=1) for number in (5, 12, 19, 26)]
        self.blind = [(days[0], days[0] + timedelta(hours=3)), (days[2], days[2] + MINUTE)]
        self.stopped = [(days[1], days[1] + timedelta(hours=7)), (days[3], days[3] + timedelta(minutes=95))]
        # Who dies has claimed what is due, and tells nobody what came of it.
        self.deaths = [BEGINNING + number * timedelta(hours=31) + MINUTE for number in range(1, 20)]

    async def probe(self, claimed: Claimed) -> Finding:
        script = self.scripts[claimed.monitor_id]
        if any(start <= self.now < end for start, end in self.blind):
            return UNKNOWN
        if script.is_away(self.now, self.chance):
            return DOWN
        return DEGRADED if self.chance.random() < 0.1 else UP

    async def live_through_the_month(self, monitors: list[Monitor]) -> None:
        """Go from round to round; while something is to be confirmed, ten seconds at a time."""
        events = [
            (moment, monitor.id, paused)
            for monitor in monitors
            for pause in self.scripts[monitor.id].pauses
            for moment, paused in zip(pause, (True, False), strict=True)
        ]
        events.sort(key=lambda event: event[0])
        next_round = BEGINNING + MINUTE
        while self.now < BEGINNING + MONTH:
            self.last_round = self.now
            while events and events[0][0] <= self.now:
                moment, monitor_id, paused = events.pop(0)
                await self.rest_or_go_on(monitor_id, moment, paused=paused)
            if self.deaths and self.deaths[0] <= self.now:
                self.deaths.pop(0)
                await claim_due(self.now, 1000)
                self.now += MINUTE  # until the leases have ended
                continue
            await self.keep_maintenance()
            if not any(start <= self.now < end for start, end in self.stopped):
                for each in await self.checker.check_once():
                    outcome = str(each.finding.outcome).replace("degraded", "up")
                    self.scripts[each.claimed.monitor_id].checks.append(Check(each.checked_at, outcome))
            is_settling = await CheckState.filter(streak__gt=0).exists()
            self.now = min(next_round, self.now + 10 * SECOND) if is_settling else next_round
            if self.now == next_round:
                next_round += ROUND

    async def keep_maintenance(self) -> None:
        """Do what a worker has done since the last round, each time a few seconds late."""
        late = MaintenanceWindow.filter(due_at__lte=self.now - LATENESS).order_by("due_at")
        while due := await late.first():
            assert due.due_at
            await keep_maintenance(due.due_at + LATENESS)

    async def rest_or_go_on(self, monitor_id: UUID, moment: datetime, *, paused: bool) -> None:
        """Do what updating a monitor does, on this clock."""
        async with transaction():
            monitor = await Monitor.get(id=monitor_id).select_related("check_state")
            monitor.paused, monitor.status = paused, rules.status_after(monitor.status, paused=paused)
            await restart_checks([monitor], moment)
            await monitor.save(update_fields=["paused", "status"])


async def plan_maintenance(team_id: UUID) -> None:
    for tag, (starts_at, duration, recurrence, time_zone) in WINDOWS.items():
        window = MaintenanceWindow(
            team_id=team_id,
            name=tag,
            starts_at=starts_at,
            duration_seconds=duration // SECOND,
            recurrence=recurrence,
            time_zone=time_zone,
            monitor_ids=[],
            tags=[tag],
            created_at=BEGINNING,
            updated_at=BEGINNING,
        )
        window.due_at = due_at_of(window, BEGINNING)
        await window.save(force_create=True)


async def make_monitors(world: World) -> list[Monitor]:
    team = await create_team("Alice's team", "free", MONITORS)
    ages = {"status_changed_at": BEGINNING, "created_at": BEGINNING, "updated_at": BEGINNING}
    monitors = []
    await plan_maintenance(team.id)
    for number in range(MONITORS):
        tags = world.chance.sample(list(WINDOWS), number % 4)
        configuration = {
            "url": f"https://shop-{number}.example.com/",
            "interval_seconds": world.chance.choice(INTERVALS),
            "failure_threshold": world.chance.choice((1, 2, 2, 3)),
            "recovery_threshold": world.chance.choice((1, 2, 2, 3)),
            "tags": tags,
        }
        whole = rules.complete(configuration, default_configuration())
        monitor = Monitor(
            id=choose_id(world.chance), team_id=team.id, status="pending", search_text="", **ages, **whole
        )
        world.scripts[monitor.id] = script = write_script(world.chance)
        script.maintenance = [times for tag in tags for times in TIMES[tag]]
        monitors.append(monitor)
    await Monitor.bulk_create(monitors)
    await CheckState.bulk_create(
        [CheckState(monitor_id=each.id, due_at=BEGINNING, next_check_at=BEGINNING) for each in monitors]
    )
    await StateChange.bulk_create(
        [StateChange(monitor_id=each.id, changed_at=BEGINNING, state="pending") for each in monitors]
    )
    return monitors


def stretches_of(script: Script, end: datetime) -> list[tuple[datetime, datetime, str, list[Check]]]:
    """Cut the month where people paused the monitor and let it go on."""
    moments = [moment for pause in script.pauses for moment in pause if moment <= end]
    edges = [BEGINNING, *moments, end]
    return [
        (
            one,
            other,
            "paused" if number % 2 else "active",
            [check for check in script.checks if one <= check.at < other],
        )
        for number, (one, other) in enumerate(pairwise(edges))
    ]


def count_unconfirmed(script: Script, month: Month) -> int:
    """Count the failures that no incident tells of, because nothing confirmed them or in maintenance."""
    return sum(
        check.outcome == "down"
        and not any(
            each.started_at <= check.at and (each.resolved_at is None or check.at < each.resolved_at)
            for each in month.incidents
        )
        for check in script.checks
    )


async def list_told(channel: NotificationChannel) -> list[tuple[str, UUID, datetime]]:
    rows = await NotificationDelivery.filter(channel_id=channel.id, event__startswith="incident.")
    return sorted((each.event, each.subject_id, each.created_at) for each in rows if each.subject_id)


async def list_to_tell() -> list[tuple[str, UUID, datetime]]:
    """List what every incident should have told, which are the oracle's."""
    incidents = await Incident.all()
    opened = [("incident.opened", each.id, each.confirmed_at) for each in incidents]
    return sorted(
        opened + [("incident.resolved", each.id, each.resolved_at) for each in incidents if each.resolved_at]
    )


@pytest.mark.long(seconds=60)
async def test_after_a_month_of_outages_uptime_and_incidents_are_the_truth(tmp_path: Path) -> None:
    async with temporary_backends(tmp_path):
        world = World(tmp_path)
        monitors = await make_monitors(world)
        program = {"type": "webhook", "url": "https://pager.example.com/"}
        channel = await create_channel(monitors[0].team_id, program)
        await world.live_through_the_month(monitors)
        seen: Counter[str] = Counter()
        for monitor in monitors:
            script = world.scripts[monitor.id]
            month = work_out(
                Rules(
                    timedelta(seconds=monitor.interval_seconds),
                    monitor.failure_threshold,
                    monitor.recovery_threshold,
                ),
                stretches_of(script, world.last_round + SECOND),  # its checks included
                script.maintenance,
            )
            stored = await Monitor.get(id=monitor.id).select_related("check_state")
            told = await Incident.filter(monitor_id=monitor.id).order_by("started_at")
            assert [(each.started_at, each.resolved_at) for each in told] == [
                (each.started_at, each.resolved_at) for each in month.incidents
            ]
            _, uptime = (await measure_uptime(stored, Range(BEGINNING, world.last_round))).whole
            truth = month.seconds(BEGINNING, world.last_round)
            assert {name: getattr(uptime, f"{name}_seconds") for name in truth} == truth
            seen.update({name: round(seconds) for name, seconds in truth.items()})
            silenced = (check for check in script.checks if check.outcome == "down")
            seen.update(
                incidents=len(told),
                unconfirmed=count_unconfirmed(script, month),
                silenced=sum(any(a <= each.at < b for a, b in script.maintenance) for each in silenced),
            )
        assert await list_told(channel) == await list_to_tell()
    assert min(seen.values()) > 0
