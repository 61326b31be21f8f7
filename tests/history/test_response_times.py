"""Percentiles over any range, whether results or rollups are left of it."""

from __future__ import annotations

import random
from datetime import timedelta
from math import ceil
from typing import TYPE_CHECKING

import pytest

from history.diary import DAY, HOUR, NOON, make_monitors, make_result, write_down
from monitoring.checks.upkeep import keep_up
from monitoring.history.models import Progress, Rollup
from monitoring.history.ranges import Range
from monitoring.history.response_times import measure_response_times
from monitoring.history.retention import apply_retention
from monitoring.history.rollups import roll_up
from monitoring.history.tallies import Phases
from monitoring.history.timeline import floor

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from monitoring.history.models import CheckResult
    from monitoring.history.ranges import WindowName
    from monitoring.history.response_times import ResponseTimes
    from monitoring.history.tallies import Tally

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

MIDNIGHT = NOON.replace(hour=0)
MINUTE = timedelta(minutes=1)
PHASES = {"dns_ms": 2, "connect_ms": 3, "tls_ms": 4, "first_byte_ms": 8}


def _make_results(monitor_id: UUID, start: datetime, end: datetime, step: timedelta) -> list[CheckResult]:
    chance = random.Random(7)  # noqa: S311 - not for secrets
    return [
        make_result(
            monitor_id,
            start + n * step,
            chance.choice(("up", "up", "up", "degraded", "down", "unknown")),
            20 + round(chance.lognormvariate(5, 1)),
            # A redirect to an address has no name to resolve, and an old check no phases at all.
            **({}, {"connect_ms": 1, "first_byte_ms": 5}, PHASES)[n % 3],
        )
        for n in range((end - start) // step)
    ]


def _add_phases(results: list[CheckResult]) -> Phases:
    """Add phases up in another way than the database does."""
    sums = Phases()
    for each in results:
        if each.outcome in ("up", "degraded") and each.first_byte_ms is not None:
            phases = (each.dns_ms or 0, each.connect_ms or 0, each.tls_ms or 0, each.first_byte_ms)
            sums = sums.plus(Phases(1, *phases, (each.response_time_ms or 0) - sum(phases)))
    return sums


def _agrees(tally: Tally, results: list[CheckResult]) -> bool:
    """Compare with the results themselves: counts exactly, percentiles (nearest rank) within 2 %."""
    seen = [each for each in results if each.outcome != "unknown"]
    times = sorted(each.response_time_ms or 0 for each in seen if each.outcome != "down")
    exact = {p: times[ceil(p * len(times) / 100) - 1] for p in (50, 90, 95, 99)} if times else {}
    counts = (tally.check_count, tally.failed_check_count, tally.latencies.count)
    if tally.phases != _add_phases(results):
        return False
    return counts == (len(seen), len(seen) - len(times), len(times)) and all(
        abs((tally.latencies.percentile(p) or 0) - time) <= 0.02 * time for p, time in exact.items()
    )


def _within(results: list[CheckResult], start: datetime, end: datetime) -> list[CheckResult]:
    return [each for each in results if start <= each.checked_at < end]


def _assert_tells(told: ResponseTimes, results: list[CheckResult]) -> None:
    for (start, end), tally in (told.whole, *told.windows):
        assert _agrees(tally, _within(results, start, end)), (start, end)


async def _grow_old(now: datetime) -> None:
    """Roll the first days up, and let hours and days without checks pass, of which rollups know nothing."""
    await roll_up(MIDNIGHT + 4 * DAY)
    await Progress.all().update(done_until=floor(now, DAY))
    await keep_up(now)
    await apply_retention(now)


class TestResponseTimes:
    @pytest.mark.parametrize("window", [None, "hour", "day"])
    @pytest.mark.parametrize("rolled_up_hours", [0, 1, 30, 47, 60])
    async def test_are_the_same_whatever_is_rolled_up(
        self, window: WindowName | None, rolled_up_hours: int
    ) -> None:
        monitor, other = await make_monitors(2)
        now = MIDNIGHT + 60 * HOUR + 25 * MINUTE
        results = _make_results(monitor.id, MIDNIGHT, now, 7 * MINUTE)
        await write_down([*results, make_result(other.id, NOON, "down")])
        await roll_up(MIDNIGHT + rolled_up_hours * HOUR + 10 * MINUTE)
        asked = Range(MIDNIGHT + 5 * HOUR + MINUTE, now, window)
        told = await measure_response_times(monitor.id, asked, now)
        assert told.whole[0] == (MIDNIGHT + 5 * HOUR, MIDNIGHT + 61 * HOUR)
        assert len(told.windows) == {None: 0, "hour": 56, "day": 3}[window]
        _assert_tells(told, results)

    async def test_of_windows_without_checks_are_told_too(self) -> None:
        [monitor] = await make_monitors()
        await write_down([make_result(monitor.id, NOON)])
        asked = Range(NOON - 2 * HOUR, NOON + 2 * HOUR, "hour")
        told = await measure_response_times(monitor.id, asked, NOON + 2 * HOUR)
        assert [tally.check_count for _, tally in told.windows] == [0, 0, 1, 0]
        assert told.windows[0][1].latencies.percentile(50) is None

    async def test_of_a_range_that_lies_ahead_are_none(self) -> None:
        [monitor] = await make_monitors()
        await write_down([make_result(monitor.id, NOON)])
        now = NOON + MINUTE
        told = await measure_response_times(monitor.id, Range(now, now, "hour"), now)
        assert told.whole[0] == (NOON, NOON)
        assert told.whole[1].check_count == 0
        assert told.windows == []


class TestOldResponseTimes:
    async def test_are_told_by_the_day_where_hours_are_no_longer_kept(self) -> None:
        [monitor] = await make_monitors()
        results = _make_results(monitor.id, MIDNIGHT, MIDNIGHT + 3 * DAY, 30 * MINUTE)
        await write_down(results)
        now = MIDNIGHT + 102 * DAY + NOON.hour * HOUR  # the hours of two of three days are gone
        await _grow_old(now)
        assert await Rollup.filter(window="hour").count() == 24
        for window in (None, "day"):
            asked = Range(NOON, MIDNIGHT + 2 * DAY + 5 * HOUR, window)
            told = await measure_response_times(monitor.id, asked, now)
            assert told.whole[0] == (MIDNIGHT, MIDNIGHT + 2 * DAY + 5 * HOUR)
            _assert_tells(told, results)
        told = await measure_response_times(monitor.id, Range(NOON, NOON + HOUR), now)
        assert told.whole[0] == (MIDNIGHT, MIDNIGHT + DAY)
        _assert_tells(told, results)

    async def test_are_told_hour_by_hour_only_as_far_as_hours_are_kept(self) -> None:
        [monitor] = await make_monitors()
        results = _make_results(monitor.id, MIDNIGHT, MIDNIGHT + 3 * DAY, 30 * MINUTE)
        await write_down(results)
        now = MIDNIGHT + 102 * DAY
        await _grow_old(now)
        told = await measure_response_times(monitor.id, Range(NOON, NOON + 2 * DAY, "hour"), now)
        assert told.whole[0] == (MIDNIGHT + 2 * DAY, NOON + 2 * DAY)
        assert len(told.windows) == 12
        _assert_tells(told, results)
        told = await measure_response_times(monitor.id, Range(NOON, NOON + HOUR, "hour"), now)
        assert told.whole[0][0] == told.whole[0][1]
        assert told.whole[1].check_count == 0
