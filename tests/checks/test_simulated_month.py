"""A month of checks on a simulated clock, claimed and stored by the real code, compared with an oracle."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from checks.month import (
    BEGINNING,
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
from checks.oracle import Check, Month, Rules, list_degradation, work_out
from checks.rounds import DEGRADED, DOWN, MINUTE, SECOND, UNKNOWN, UP
from monitoring.auth.service import create_team
from monitoring.checks.claims import claim_due
from monitoring.checks.probes.http import HttpProbe
from monitoring.checks.slots import next_slot
from monitoring.history.ranges import Range
from monitoring.history.uptime import measure_uptime
from monitoring.incidents.models import Incident
from monitoring.monitors import rules
from monitoring.monitors.configuration import default_configuration, monitor_types, store_configuration
from monitoring.monitors.contracts.preparing import prepare_contract
from monitoring.monitors.models import HEARTBEAT, CheckState, Monitor, StateChange
from monitoring.notifications.service import create_channel
from monitoring.outbound.exchanges import Exchange
from monitors.contracts.promises import DOCUMENT
from temporary_backends import make_settings, temporary_backends

if TYPE_CHECKING:
    from pathlib import Path

    from monitoring.checks.claims import Claimed
    from monitoring.checks.probes.contracts import Contract
    from monitoring.checks.probes.protocol import Finding

pytestmark = pytest.mark.anyio

# The intervals divide each other, and ids are chosen so that all are checked in the first minute of an hour:
# a month of rounds is then hundreds, and not hundreds of thousands.
INTERVALS = (3600, 7200, 14400, 21600)
ROUND = timedelta(seconds=3600)
MONITORS = 100

# Jobs have a month of their own (`heartbeats/test_simulated_month.py`).
TYPES = [name for name in monitor_types() if name != HEARTBEAT]
URLS = {
    "http": "https://shop.example.com/orders/7",
    "tcp": "tcp://db.example.com:5432",
    "dns": "dns://shop.example.com",
    "certificate": "tls://mail.example.com:993",
    "ping": "ping://gateway.example.com",
}
# What breaks one of these is degradation to its owner, and an outage to the other's.
CONTRACTS = [
    {"document": DOCUMENT, "operation_id": "get_order", "violation": violation}
    for violation in ("down", "degraded")
]
KEPT, BROKEN = (
    Exchange(200, body, headers={b"content-type": [b"application/json"], b"x-page": [b"1"]})
    for body in (b'{"id": 1, "total": 1}', b'{"id": "1", "total": 1}')
)


def choose_id(chance: Random) -> UUID:
    while True:
        monitor_id = UUID(int=chance.getrandbits(128), version=4)
        if next_slot(monitor_id, INTERVALS[0], BEGINNING) - BEGINNING <= MINUTE:
            return monitor_id


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
        """Say what is true, and note it."""
        script, said = self.scripts[claimed.monitor_id], UP
        if any(start <= self.now < end for start, end in self.blind):
            said = UNKNOWN
        elif script.is_away(self.now, self.chance):
            said = DOWN
        elif self.chance.random() < 0.2:
            said = DEGRADED
        script.checks.append(Check(self.now, said.outcome))
        if isinstance(claimed.probe, HttpProbe) and claimed.probe.contract and said != UNKNOWN:
            return await self.hold_to(claimed.probe.contract, said)
        return said

    async def hold_to(self, contract: Contract, truth: Finding) -> Finding:
        """Let the server break the contract if that makes the check find what is true."""
        nobody: Any = None  # the document was sent, so nobody has to be asked for it
        if truth.outcome == contract.settings["violation"]:
            return await contract.judge(BROKEN, UP, nobody)
        return truth if truth == DOWN else await contract.judge(KEPT, truth, nobody)

    async def live_through_the_month(self, monitors: list[Monitor]) -> None:
        """Go from round to round; while something is to be confirmed, ten seconds at a time."""
        events = sorted(
            (*turn, monitor.id) for monitor in monitors for turn in self.scripts[monitor.id].turns
        )
        next_round = BEGINNING + MINUTE
        while self.now < BEGINNING + MONTH:
            self.last_round = self.now
            while events and events[0][0] <= self.now:
                moment, paused, monitor_id = events.pop(0)
                await rest_or_go_on(monitor_id, moment, paused=paused)
            if self.deaths and self.deaths[0] <= self.now:
                self.deaths.pop(0)
                await claim_due(self.now, 1000)
                self.now += MINUTE  # until the leases have ended
                continue
            await keep_maintenance_late(self.now)
            if not any(start <= self.now < end for start, end in self.stopped):
                await self.checker.check_once()
            is_settling = await CheckState.filter(streak__gt=0).exists()
            self.now = min(next_round, self.now + 10 * SECOND) if is_settling else next_round
            if self.now == next_round:
                next_round += ROUND


async def make_monitors(world: World) -> list[Monitor]:
    team = await create_team("Alice's team", "free", MONITORS)
    ages = {"status_changed_at": BEGINNING, "created_at": BEGINNING, "updated_at": BEGINNING}
    monitors = []
    await plan_maintenance(team.id)
    for number in range(MONITORS):
        tags = world.chance.sample(list(WINDOWS), number % 4)
        monitor_type = TYPES[number % len(TYPES)]
        given: dict[str, Any] = {
            "type": monitor_type,
            "url": URLS[monitor_type],
            "interval_seconds": world.chance.choice(INTERVALS),
            "failure_threshold": world.chance.choice((1, 2, 2, 3)),
            "recovery_threshold": world.chance.choice((1, 2, 2, 3)),
            "tags": tags,
        }
        if number % 20 in (0, 10):  # of type http
            given["contract"] = CONTRACTS[number % 20 // 10]
        whole = rules.complete(await prepare_contract(team.id, given), default_configuration())
        columns = {"status": "pending", "search_text": "", **ages, **store_configuration(whole)}
        monitor = Monitor(id=choose_id(world.chance), team_id=team.id, **columns)
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


@pytest.mark.long(seconds=60)
async def test_after_a_month_of_outages_uptime_and_incidents_are_the_truth(tmp_path: Path) -> None:
    async with temporary_backends(tmp_path):
        world = World(tmp_path)
        monitors = await make_monitors(world)
        events = ["incident.opened", "incident.resolved", "monitor.degraded", "monitor.recovered"]
        program = {"type": "webhook", "url": "https://pager.example.com/", "events": events}
        channel = await create_channel(monitors[0].team_id, program)
        await world.live_through_the_month(monitors)
        seen: Counter[str] = Counter()
        to_tell = []
        for monitor in monitors:
            script = world.scripts[monitor.id]
            interval = timedelta(seconds=monitor.interval_seconds)
            thresholds = Rules(interval, monitor.failure_threshold, monitor.recovery_threshold)
            until = world.last_round + SECOND  # its checks included
            month = work_out(thresholds, stretches_of(script, until), script.maintenance)
            stored = await Monitor.get(id=monitor.id).select_related("check_state")
            told = await Incident.filter(monitor_id=monitor.id).order_by("started_at")
            assert [(each.started_at, each.resolved_at) for each in told] == [
                (each.started_at, each.resolved_at) for each in month.incidents
            ]
            _, uptime = (await measure_uptime(stored, Range(BEGINNING, world.last_round))).whole
            truth = month.seconds(BEGINNING, world.last_round)
            assert {name: getattr(uptime, f"{name}_seconds") for name in truth} == truth
            seen.update({name: round(seconds) for name, seconds in truth.items()})
            degradation = list_degradation(thresholds, script.checks, script.maintenance)
            to_tell += [(event, monitor.id, moment) for event, moment in degradation]
            silenced = (check for check in script.checks if check.outcome == "down")
            seen.update(
                incidents=len(told),
                degradation=len(degradation),
                unconfirmed=count_unconfirmed(script, month),
                silenced=sum(any(a <= each.at < b for a, b in script.maintenance) for each in silenced),
            )
        assert await list_told(channel, *events[:2]) == await list_to_tell()
        assert await list_told(channel, *events[2:]) == sorted(to_tell)
    assert min(seen.values()) > 0
