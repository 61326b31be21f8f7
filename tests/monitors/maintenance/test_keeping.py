"""Maintenance as checks and workers see it, on a clock of the test's own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from checks.rounds import DOWN, HOUR, MINUTE, NOON, SECOND, UP, claim_one, found, ids_of, make_due
from monitoring.checks.claims import claim_due
from monitoring.checks.slots import next_slot
from monitoring.checks.storing import store
from monitoring.checks.upkeep import tell_unwatched
from monitoring.contract.timestamps import write_timestamp
from monitoring.history.ranges import Range
from monitoring.history.uptime import measure_uptime
from monitoring.incidents.models import Incident
from monitoring.monitors.maintenance.covering import LOOK_AHEAD, due_at_of
from monitoring.monitors.maintenance.keeping import RETENTION, delete_ended_windows, keep_maintenance
from monitoring.monitors.maintenance.models import MaintenanceSpan, MaintenanceWindow
from monitoring.monitors.maintenance.service import create_window, delete_window, end_window, update_window
from monitoring.monitors.models import Monitor, Watch
from monitoring.monitors.service import update_monitor

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import timedelta

    from monitoring.checks.probes.protocol import Finding

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]


DAY = 86_400  # seconds


async def plan(monitor: Monitor, starts_at: datetime, duration: timedelta = HOUR) -> MaintenanceWindow:
    window = MaintenanceWindow(
        team_id=monitor.team_id,
        name="Maintenance",
        starts_at=starts_at,
        duration_seconds=duration // SECOND,
        time_zone="UTC",
        monitor_ids=[],
        tags=[],
        created_at=NOON - HOUR,
        updated_at=NOON - HOUR,
    )
    window.due_at = due_at_of(window, NOON - HOUR)
    await window.save(force_create=True)
    return window


async def make_seldom_checked(since: datetime = NOON) -> Monitor:
    """Make a monitor that is checked once a day, and not in the next six hours."""
    while True:
        [monitor] = await make_due(since=since, interval_seconds=DAY, failure_threshold=1)
        if next_slot(monitor.id, DAY, since) > since + 6 * HOUR:
            return monitor
        await Monitor.filter(id=monitor.id).delete()


async def check(finding: Finding, now: datetime) -> None:
    await Watch.all().update(due_at=now, next_check_at=now)
    await store(found([await claim_one(now)], finding, now), now)


async def status_of(monitor: Monitor) -> tuple[str, datetime]:
    stored = await Monitor.get(id=monitor.id)
    return stored.status, stored.status_changed_at


async def spans() -> list[tuple[datetime, datetime]]:
    return list(await MaintenanceSpan.all().order_by("starts_at").values_list("starts_at", "ends_at"))


class TestKeeping:
    async def test_lets_a_check_know_the_window_before_it_begins(self) -> None:
        [monitor] = await make_due(failure_threshold=1)
        await plan(monitor, NOON + MINUTE)
        await keep_maintenance(NOON + MINUTE - LOOK_AHEAD)
        await check(UP, NOON)
        assert await status_of(monitor) == ("up", NOON)
        await check(DOWN, NOON + MINUTE)
        assert await status_of(monitor) == ("maintenance", NOON + MINUTE)
        assert not await Incident.exists()

    async def test_shows_maintenance_without_a_check_and_its_exact_beginning(self) -> None:
        [monitor] = await make_due()
        await plan(monitor, NOON + MINUTE)
        for seconds in (0, 59):
            await keep_maintenance(NOON + seconds * SECOND)
            assert (await status_of(monitor))[0] == "pending"
        await keep_maintenance(NOON + 63 * SECOND)
        assert await status_of(monitor) == ("maintenance", NOON + MINUTE)

    async def test_goes_on_although_a_time_zone_is_gone(self) -> None:
        [monitor] = await make_due()
        gone = await plan(monitor, NOON)
        await MaintenanceWindow.filter(id=gone.id).update(
            time_zone="Europe/Atlantis", recurrence="FREQ=DAILY"
        )
        await plan(monitor, NOON + MINUTE)
        await keep_maintenance(NOON + MINUTE)
        assert (await status_of(monitor))[0] == "maintenance"

    async def test_ends_what_is_over_and_notes_when_it_was(self) -> None:
        [monitor] = await make_due()
        window = await plan(monitor, NOON, MINUTE)
        await keep_maintenance(NOON)
        await check(UP, NOON + SECOND)
        await keep_maintenance(NOON + MINUTE + 3 * SECOND)
        assert await status_of(monitor) == ("up", NOON + MINUTE)
        assert await spans() == [(NOON, NOON + MINUTE)]
        assert (await MaintenanceWindow.get(id=window.id)).due_at is None

    async def test_again_and_by_several_at_once_changes_nothing(self) -> None:
        [monitor] = await make_due()
        await plan(monitor, NOON)
        await keep_maintenance(NOON)
        before = await Watch.get(monitor_id=monitor.id)
        await keep_maintenance(NOON + SECOND)
        after = await Watch.get(monitor_id=monitor.id)
        assert (after.maintenance_from, after.maintenance_until) == (NOON, NOON + HOUR)
        assert (after.claim, after.due_at) == (before.claim, before.due_at)
        assert await spans() == [(NOON, NOON + HOUR)]

    async def test_unites_windows_that_overlap(self) -> None:
        [monitor] = await make_due()
        await plan(monitor, NOON)
        await plan(monitor, NOON + 30 * MINUTE)
        await keep_maintenance(NOON)
        await keep_maintenance(NOON + 30 * MINUTE)
        await keep_maintenance(NOON + HOUR)
        assert (await status_of(monitor))[0] == "maintenance"
        await keep_maintenance(NOON + 90 * MINUTE)
        assert await spans() == [(NOON, NOON + 90 * MINUTE)]
        assert await status_of(monitor) == ("pending", NOON + 90 * MINUTE)

    async def test_deletes_windows_that_have_long_been_over(self) -> None:
        [monitor] = await make_due()
        await plan(monitor, NOON, MINUTE)
        await plan(monitor, NOON + 365 * 24 * HOUR)
        await keep_maintenance(NOON + MINUTE)
        assert await delete_ended_windows(NOON + MINUTE + RETENTION) == 0
        assert await delete_ended_windows(NOON + 2 * MINUTE + RETENTION) == 1
        assert await MaintenanceWindow.all().count() == 1


class TestChecks:
    async def test_without_a_worker_end_maintenance_by_themselves(self) -> None:
        [monitor] = await make_due(failure_threshold=1)
        await plan(monitor, NOON, MINUTE)
        await keep_maintenance(NOON)
        await check(DOWN, NOON + SECOND)
        await check(DOWN, NOON + MINUTE)
        assert await status_of(monitor) == ("down", NOON + MINUTE)
        [incident] = await Incident.all()
        assert incident.started_at == NOON + MINUTE

    async def test_open_no_incident_because_of_failures_in_it(self) -> None:
        [monitor] = await make_due(failure_threshold=2)
        await plan(monitor, NOON)
        await keep_maintenance(NOON)
        for seconds in (1, 11, 21):
            await check(DOWN, NOON + seconds * SECOND)
        await keep_maintenance(NOON + HOUR)
        await check(DOWN, NOON + HOUR + SECOND)
        assert not await Incident.exists()
        await check(DOWN, NOON + HOUR + 11 * SECOND)
        [incident] = await Incident.all()
        assert incident.started_at == NOON + HOUR + SECOND

    async def test_may_resolve_an_incident_that_was_open(self) -> None:
        [monitor] = await make_due(failure_threshold=1, recovery_threshold=1)
        await check(DOWN, NOON)
        await plan(monitor, NOON + MINUTE)
        await keep_maintenance(NOON + MINUTE)
        await check(DOWN, NOON + 2 * MINUTE)
        assert (await Incident.get()).resolved_at is None
        await check(UP, NOON + 3 * MINUTE)
        assert (await Incident.get()).resolved_at == NOON + 3 * MINUTE
        assert (await status_of(monitor))[0] == "maintenance"

    async def test_that_began_before_a_window_of_now_open_nothing_after_it_has_begun(self) -> None:
        [monitor] = await make_due(failure_threshold=1)
        claimed = await claim_one(NOON)
        await plan(monitor, NOON + SECOND)
        await keep_maintenance(NOON + SECOND)
        assert await store(found([claimed], DOWN, NOON), NOON + 2 * SECOND) == []
        assert not await Incident.exists()

    async def test_that_stop_leave_the_status_and_the_end_says_unknown(self) -> None:
        [monitor] = await make_due(interval_seconds=60)
        await check(UP, NOON)
        await plan(monitor, NOON + MINUTE)
        await keep_maintenance(NOON + MINUTE)
        assert await tell_unwatched(NOON + 30 * MINUTE) == 0
        await keep_maintenance(NOON + 2 * HOUR)
        assert (await status_of(monitor))[0] == "unknown"


class TestTheEndOfMaintenance:
    """What failed in a window is checked when it ends, however far off its next regular check is."""

    async def test_is_when_a_monitor_is_checked_whose_last_check_failed(self) -> None:
        failing = await make_seldom_checked()
        await plan(failing, NOON)
        await keep_maintenance(NOON)
        await check(DOWN, NOON + MINUTE)
        assert await claim_due(NOON + HOUR - SECOND, 2) == []
        at_the_end = await claim_due(NOON + HOUR, 2)
        assert await store(found(at_the_end, DOWN, NOON + HOUR), NOON + HOUR) == [failing.id]
        [incident] = await Incident.all()
        assert incident.started_at == NOON + HOUR

    async def test_changes_nothing_for_a_monitor_that_is_up(self) -> None:
        monitor = await make_seldom_checked()
        await plan(monitor, NOON)
        await keep_maintenance(NOON)
        await check(DOWN, NOON + MINUTE)
        await check(UP, NOON + 2 * MINUTE)
        planned_at = (await Watch.get()).due_at
        await keep_maintenance(NOON + HOUR)
        assert (await Watch.get()).due_at == planned_at

    async def test_may_come_later_and_then_the_check_does_too(self) -> None:
        monitor = await make_seldom_checked()
        await plan(monitor, NOON)
        await keep_maintenance(NOON)
        await check(DOWN, NOON + MINUTE)
        await plan(monitor, NOON + 30 * MINUTE)  # follows the first without a gap
        await keep_maintenance(NOON + 30 * MINUTE)
        await store(found(await claim_due(NOON + HOUR, 2), DOWN, NOON + HOUR), NOON + HOUR)
        assert (await Watch.get()).due_at == NOON + 90 * MINUTE

    async def test_while_the_service_was_off_is_when_it_comes_back(self) -> None:
        monitor = await make_seldom_checked()
        await plan(monitor, NOON)
        await keep_maintenance(NOON)
        await check(DOWN, NOON + MINUTE)
        assert len(await claim_due(NOON + 5 * HOUR, 2)) == 1

    async def test_is_noticed_by_the_worker_for_failures_that_an_earlier_release_stored(self) -> None:
        monitor = await make_seldom_checked()
        await plan(monitor, NOON)
        await keep_maintenance(NOON)
        await check(DOWN, NOON + MINUTE)
        await Watch.all().update(due_at=NOON + 20 * HOUR, next_check_at=NOON + 20 * HOUR)
        await keep_maintenance(NOON + HOUR + SECOND)
        watch = await Watch.get()
        assert (watch.due_at, watch.next_check_at) == (NOON + HOUR, NOON + HOUR)

    @pytest.mark.parametrize(
        "end",
        [
            pytest.param(lambda window: end_window(window.team_id, window.id), id="ended"),
            pytest.param(lambda window: delete_window(window.team_id, window.id), id="deleted"),
            pytest.param(lambda window: change_window(window, tags=["other"]), id="other-monitors"),
            pytest.param(lambda window: change_window(window, starts_at=in_a_day()), id="moved"),
        ],
    )
    async def test_is_when_somebody_says_so(
        self, end: Callable[[MaintenanceWindow], Awaitable[object]]
    ) -> None:
        failing = await make_seldom_checked(datetime.now(UTC))
        window = await create_window(failing.team_id, {"duration_seconds": DAY, "recurrence": "FREQ=DAILY"})
        await check(DOWN, datetime.now(UTC))
        assert await claim_due(datetime.now(UTC), 2) == []
        await end(window)
        assert ids_of(await claim_due(datetime.now(UTC), 2)) == [failing.id]

    async def test_is_followed_when_a_window_is_shortened(self) -> None:
        failing = await make_seldom_checked(datetime.now(UTC))
        window = await create_window(failing.team_id, {"duration_seconds": DAY})
        await check(DOWN, datetime.now(UTC))
        await change_window(window, duration_seconds=600)
        assert (await Watch.get()).due_at == window.starts_at + 10 * MINUTE

    async def test_drops_a_check_under_way_that_knows_another_end(self) -> None:
        failing = await make_seldom_checked(datetime.now(UTC))
        window = await create_window(failing.team_id, {"duration_seconds": DAY})
        now = datetime.now(UTC)
        await Watch.all().update(due_at=now, next_check_at=now)
        claimed = await claim_one(now)
        await end_window(window.team_id, window.id)
        assert await store(found([claimed], DOWN, now), now) == []
        assert ids_of(await claim_due(claimed.lease_ends_at, 2)) == [failing.id]

    async def test_leaves_a_paused_monitor_alone(self) -> None:
        monitor = await make_seldom_checked(datetime.now(UTC))
        window = await create_window(monitor.team_id, {"duration_seconds": DAY})
        await check(DOWN, datetime.now(UTC))
        await update_monitor(monitor.team_id, monitor.id, {"paused": True})
        await end_window(window.team_id, window.id)
        assert (await Watch.get()).due_at is None


def in_a_day() -> str:
    return write_timestamp(datetime.now(UTC) + 24 * HOUR)


async def change_window(window: MaintenanceWindow, **patch: Any) -> None:
    await update_window(window.team_id, window.id, patch)


async def test_uptime_knows_the_seconds_in_maintenance() -> None:
    [monitor] = await make_due(interval_seconds=86_400, failure_threshold=1)
    await check(UP, NOON)
    await plan(monitor, NOON + MINUTE, MINUTE)
    await keep_maintenance(NOON + MINUTE)
    await check(DOWN, NOON + 90 * SECOND)
    await check(DOWN, NOON + 3 * MINUTE)
    stored = await Monitor.get(id=monitor.id).select_related("watch")
    _, durations = (await measure_uptime(stored, Range(NOON, NOON + 4 * MINUTE))).whole
    assert (durations.up_seconds, durations.maintenance_seconds) == (60, 60)
    assert (durations.unknown_seconds, durations.down_seconds) == (60, 60)
