"""Reading uptime. How state changes are summed is a separate rule (test_timeline)."""

from __future__ import annotations

import tracemalloc
from dataclasses import fields
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from history.diary import DAY, HOUR, NOON, make_monitors
from monitoring.history import uptime as reading
from monitoring.history.ranges import Range
from monitoring.history.timeline import Durations
from monitoring.history.uptime import measure_uptime
from monitoring.monitors.models import StateChange

if TYPE_CHECKING:
    from datetime import datetime

    from monitoring.history.ranges import WindowName
    from monitoring.monitors.models import Monitor

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

MINUTE = timedelta(minutes=1)
LIFE = [
    (NOON, "pending"),
    (NOON + MINUTE, "up"),
    (NOON + 2 * HOUR, "down"),
    (NOON + 3 * HOUR, "up"),
    (NOON + 20 * HOUR, "paused"),
    (NOON + 30 * HOUR, "up"),
]


async def _live(seen_until: datetime | None, *others: Monitor) -> Monitor:
    [monitor] = await make_monitors()
    for moment, state in LIFE:
        await StateChange.create(monitor_id=monitor.id, changed_at=moment, state=state)
    for other in others:
        await StateChange.create(monitor_id=other.id, changed_at=NOON, state="down")
    monitor.check_state.seen_until = seen_until
    return monitor


async def _measure(
    monitor: Monitor, start: datetime, end: datetime, window: WindowName | None = None
) -> Durations:
    (_, durations) = (await measure_uptime(monitor, Range(start, end, window))).whole
    return durations


class TestUptime:
    async def test_counts_each_state_from_its_change_on(self) -> None:
        monitor = await _live(NOON + 40 * HOUR, *await make_monitors())
        assert await _measure(monitor, NOON, NOON + 32 * HOUR) == Durations(
            up_seconds=(2 + 17 + 2) * 3600 - 60,
            down_seconds=3600,
            paused_seconds=10 * 3600,
            unknown_seconds=60,
        )

    async def test_knows_the_state_that_began_before_the_range(self) -> None:
        monitor = await _live(NOON + 40 * HOUR)
        start = NOON + 2 * HOUR + 30 * MINUTE
        assert await _measure(monitor, start, start + HOUR) == Durations(up_seconds=1800, down_seconds=1800)
        assert await _measure(monitor, NOON + 2 * HOUR, NOON + 3 * HOUR) == Durations(down_seconds=3600)

    async def test_counts_nothing_of_the_time_before_the_monitor_was_made(self) -> None:
        monitor = await _live(NOON + 40 * HOUR)
        assert await _measure(monitor, NOON - 30 * DAY, NOON) == Durations()
        before = await _measure(monitor, NOON - 30 * DAY, NOON + 3 * HOUR)
        assert before == await _measure(monitor, NOON, NOON + 3 * HOUR)

    async def test_counts_as_unknown_what_nobody_has_seen(self) -> None:
        monitor = await _live(NOON + 31 * HOUR)
        end = NOON + 34 * HOUR
        assert await _measure(monitor, NOON + 30 * HOUR, end) == Durations(
            up_seconds=3600, unknown_seconds=3 * 3600
        )

    async def test_of_a_range_without_length_is_nothing(self) -> None:
        uptime = await measure_uptime(await _live(None), Range(NOON, NOON, "hour"))
        assert uptime.whole == ((NOON, NOON), Durations())
        assert uptime.windows == []

    @pytest.mark.parametrize(("window", "count"), [("hour", 41), ("day", 2)])
    async def test_of_windows_adds_up_to_the_whole(self, window: WindowName, count: int) -> None:
        monitor = await _live(NOON + 31 * HOUR)
        start = NOON - 5 * HOUR + 17 * MINUTE
        uptime = await measure_uptime(monitor, Range(start, start + 40 * HOUR, window))
        assert len(uptime.windows) == count
        edges = [edge for each, _ in uptime.windows for edge in each]
        assert (edges[0], edges[-1]) == (start, start + 40 * HOUR)
        assert edges[1:-1:2] == edges[2:-1:2]
        for field in fields(Durations):
            parts = [getattr(durations, field.name) for _, durations in uptime.windows]
            assert sum(parts) == getattr(uptime.whole[1], field.name)

    @pytest.mark.parametrize("portion", [1, 2, 5, 6])
    async def test_does_not_depend_on_how_much_is_read_at_once(
        self, portion: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monitor = await _live(NOON + 31 * HOUR)
        for asked in (
            Range(NOON - HOUR, NOON + 40 * HOUR, "hour"),
            Range(NOON + 2 * HOUR, NOON + 20 * HOUR),
        ):
            at_once = await measure_uptime(monitor, asked)
            with monkeypatch.context() as patched:
                patched.setattr(reading, "PORTION", portion)
                assert await measure_uptime(monitor, asked) == at_once

    async def test_of_a_server_that_flaps_for_weeks_is_exact_and_takes_little_memory(self) -> None:
        [monitor] = await make_monitors()
        monitor.check_state.seen_until = NOON + DAY * 30
        step, count = timedelta(seconds=29, microseconds=976_543), 10 * reading.PORTION
        await StateChange.bulk_create(
            [
                StateChange(monitor_id=monitor.id, changed_at=NOON + n * step, state=("up", "down")[n % 2])
                for n in range(count)
            ],
            batch_size=1000,
        )
        await _measure(monitor, NOON, NOON + HOUR)  # what is made once, is made
        tracemalloc.start()
        durations = await _measure(monitor, NOON, NOON + count * step, "day")
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        half = (count // 2 * step).total_seconds()
        assert durations == Durations(up_seconds=half, down_seconds=half)
        assert peak_bytes < count * 200  # a fifth of what the rows would take
