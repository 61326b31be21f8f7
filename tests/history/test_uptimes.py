"""The uptimes of many monitors are those that each of them has by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from monitoring.history.ranges import Range
from monitoring.history.uptime import measure_ratios, measure_uptime
from monitoring.monitors.health import State
from monitoring.monitors.maintenance.models import MaintenanceSpan
from monitoring.monitors.models import Monitor, StateChange, Watch
from monitors.conversations import create

if TYPE_CHECKING:
    from cast import Player
    from running_service import RunningService

HOUR = timedelta(hours=1)
END = datetime(2026, 11, 24, 12, tzinfo=UTC)
START = END - 24 * HOUR

# What a monitor was since how many hours ago, when it was seen last, and hours of maintenance.
HISTORIES = {
    "always up": ([(48, "up")], 0, ()),
    "always down": ([(48, "down")], 0, ()),
    "up until it was seen last": ([(48, "up")], 6, ()),
    "seen last before the range": ([(48, "up")], 30, ()),
    "never seen": ([(48, "up")], None, ()),
    "begun within the range": ([(5, "pending"), (4, "up")], 0, ()),
    "just begun, up": ([(3, "up")], 3, ()),
    "up, and down when it was seen last": ([(48, "up"), (10, "down")], 10, ()),
    "up, then paused": ([(48, "up"), (10, "paused")], 0, ()),
    "paused": ([(48, "paused")], 0, ()),
    "down for a while": ([(48, "up"), (10, "down"), (8, "up")], 0, ()),
    "changed at the very start": ([(48, "down"), (24, "up")], 0, ()),
    "in maintenance all the time": ([(48, "up")], 0, ((40, -1),)),
    "down, and half of it in maintenance": ([(48, "up"), (10, "down")], 0, ((10, 5),)),
    "maintenance long ago": ([(48, "up")], 0, ((40, 30),)),
}


@pytest.fixture
def monitors(service: RunningService, alice: Player) -> dict[str, Monitor]:
    made = {name: UUID(create(alice)["id"]) for name in HISTORIES}

    async def live() -> dict[str, Monitor]:
        await StateChange.filter(monitor_id__in=[*made.values()]).delete()
        for name, (changes, seen, spans) in HISTORIES.items():
            for hours, state in changes:
                await StateChange.create(monitor_id=made[name], changed_at=END - hours * HOUR, state=state)
            for first, last in spans:
                await MaintenanceSpan.create(
                    monitor_id=made[name], starts_at=END - first * HOUR, ends_at=END - last * HOUR
                )
            hours, state = changes[-1]
            is_covered = any(last < 0 for _, last in spans)
            await Monitor.filter(id=made[name]).update(
                status=State.MAINTENANCE if is_covered else state, status_changed_at=END - hours * HOUR
            )
            seen_until = None if seen is None else END - seen * HOUR
            await Watch.filter(monitor_id=made[name]).update(seen_until=seen_until)
        return {name: await Monitor.get(id=id_).select_related("watch") for name, id_ in made.items()}

    return service.run(live())


def test_the_ratios_of_many_monitors_are_those_of_each(
    service: RunningService, monitors: dict[str, Monitor]
) -> None:
    async def measure_both() -> tuple[dict[str, float | None], dict[str, float | None]]:
        ids = {monitor.id: name for name, monitor in monitors.items()}
        together = await measure_ratios([*ids], START, END)
        each = {
            name: (await measure_uptime(monitor, Range(START, END))).whole[1].uptime_ratio
            for name, monitor in monitors.items()
        }
        return {ids[id_]: ratio for id_, ratio in together.items()}, each

    together, each = service.run(measure_both())
    assert together == each
    assert (each["always up"], each["always down"], each["paused"]) == (1.0, 0.0, None)


def test_a_monitor_that_is_gone_has_no_ratio(service: RunningService) -> None:
    nobody = UUID(int=7)
    assert service.run(measure_ratios([nobody], START, END)) == {nobody: None}
