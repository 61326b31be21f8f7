"""A month on a simulated clock: its maintenance, the checker that goes step by step, and what people do."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from checks.oracle import Check, Span, Stretch
from checks.rounds import SECOND
from monitoring.backends.database import transaction
from monitoring.checks.checker import Checker
from monitoring.incidents.models import Incident
from monitoring.monitors import rules
from monitoring.monitors.check_state import restart_checks
from monitoring.monitors.maintenance.covering import due_at_of
from monitoring.monitors.maintenance.keeping import keep_maintenance
from monitoring.monitors.maintenance.models import MaintenanceWindow
from monitoring.monitors.models import Monitor
from monitoring.notifications.models import NotificationChannel, NotificationDelivery

if TYPE_CHECKING:
    from random import Random
    from uuid import UUID

    from monitoring.checks.storing import Checked

BEGINNING = datetime(2026, 10, 1, tzinfo=UTC)
MONTH = timedelta(days=30)
LATENESS = 3 * SECOND
BLIP_SECONDS = 5

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


@dataclass
class Script:
    """What happens to one monitor: when it is really away, and when people let it rest."""

    outages: list[Span]
    pauses: list[Span]
    blip_until: datetime = BEGINNING
    checks: list[Check] = field(default_factory=list)
    maintenance: list[Span] = field(default_factory=list)

    def is_away(self, now: datetime, chance: Random) -> bool:
        if now >= self.blip_until and chance.random() < 0.001:
            self.blip_until = now + BLIP_SECONDS * SECOND
        return now < self.blip_until or any(start <= now < end for start, end in self.outages)

    @property
    def turns(self) -> list[tuple[datetime, bool]]:
        """When people pause the monitor (True), and when they let it go on."""
        return [turn for start, end in self.pauses for turn in ((start, True), (end, False))]


def write_script(chance: Random) -> Script:
    def some_time(longest: timedelta) -> Span:
        start = BEGINNING + chance.randrange(MONTH // SECOND) * SECOND
        return start, start + chance.randrange(longest // SECOND) * SECOND

    outages = [some_time(timedelta(hours=12)) for _ in range(chance.randrange(4))]
    pauses: list[Span] = []
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


async def keep_maintenance_late(now: datetime) -> None:
    """Do what a worker has done until now, each time a few seconds late."""
    late = MaintenanceWindow.filter(due_at__lte=now - LATENESS).order_by("due_at")
    while due := await late.first():
        assert due.due_at
        await keep_maintenance(due.due_at + LATENESS)


async def rest_or_go_on(monitor_id: UUID, moment: datetime, *, paused: bool) -> None:
    """Do what updating a monitor does, on this clock."""
    async with transaction():
        monitor = await Monitor.get(id=monitor_id).select_related("check_state")
        monitor.paused, monitor.status = paused, rules.status_after(monitor.status, paused=paused)
        await restart_checks([monitor], moment)
        await monitor.save(update_fields=["paused", "status"])


def stretches_of(script: Script, end: datetime) -> list[Stretch]:
    """Cut the month where people paused the monitor and let it go on."""
    moments = [moment for moment, _ in script.turns if moment <= end]
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


async def list_told(channel: NotificationChannel, *events: str) -> list[tuple[str, UUID, datetime]]:
    rows = await NotificationDelivery.filter(channel_id=channel.id, event__in=events)
    return sorted((each.event, each.subject_id, each.created_at) for each in rows if each.subject_id)


async def list_to_tell() -> list[tuple[str, UUID, datetime]]:
    """List what every incident should have told."""
    incidents = await Incident.all()
    opened = [("incident.opened", each.id, each.confirmed_at) for each in incidents]
    return sorted(
        opened + [("incident.resolved", each.id, each.resolved_at) for each in incidents if each.resolved_at]
    )
