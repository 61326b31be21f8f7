"""Rollups, on which every reader of response times relies once results are deleted."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from history.diary import DAY, HOUR, NOON, another_process_did, make_monitors, make_result, write_down
from monitoring.backends.assembly import open_backends
from monitoring.history import rollups
from monitoring.history.latencies import Latencies
from monitoring.history.models import Progress, Rollup
from monitoring.history.rollups import DAILY, HOURLY, SETTLING_TIME, read_progress, roll_up
from monitoring.monitors.models import Monitor

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from monitoring.backends.assembly import Backends
    from monitoring.history.models import CheckResult

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

MIDNIGHT = NOON.replace(hour=0)
MINUTE = timedelta(minutes=1)
OUTCOMES = ("up", "up", "degraded", "down", "unknown")


def _make_results(monitor_id: UUID, start: datetime, end: datetime, step: timedelta) -> list[CheckResult]:
    chance = random.Random(monitor_id.int)  # noqa: S311 - not for secrets
    count = (end - start) // step
    return [
        make_result(monitor_id, start + n * step, chance.choice(OUTCOMES), chance.randrange(60_000))
        for n in range(count)
    ]


def _sum_up(results: list[CheckResult]) -> tuple[int, int, dict[str, int]]:
    """Count results in another way than the code does."""
    seen = [result for result in results if result.outcome != "unknown"]
    answered = [result.response_time_ms or 0 for result in seen if result.outcome != "down"]
    return len(seen), len(seen) - len(answered), Latencies(answered).to_json()


async def _read(window: str = "hour") -> dict[tuple[UUID, datetime], tuple[int, int, dict[str, int]]]:
    return {
        (row.monitor_id, row.starts_at): (row.check_count, row.failed_check_count, row.latencies)
        for row in await Rollup.filter(window=window)
    }


class TestRollingUp:
    async def test_makes_one_row_of_an_hour_of_a_monitor_that_equals_its_results(self) -> None:
        monitors = await make_monitors(3)
        results = {each.id: _make_results(each.id, NOON, NOON + 3 * HOUR, 5 * MINUTE) for each in monitors}
        await write_down([result for each in results.values() for result in each])
        assert await roll_up(NOON + 3 * HOUR + SETTLING_TIME) == 3
        assert await _read() == {
            (monitor_id, start): _sum_up([each for each in found if start <= each.checked_at < start + HOUR])
            for monitor_id, found in results.items()
            for start in (NOON, NOON + HOUR, NOON + 2 * HOUR)
        }

    async def test_makes_one_row_of_a_day_that_equals_its_results(self) -> None:
        [monitor] = await make_monitors()
        results = _make_results(monitor.id, MIDNIGHT, MIDNIGHT + DAY, 10 * MINUTE)
        await write_down([*results, make_result(monitor.id, MIDNIGHT + DAY)])
        assert await roll_up(MIDNIGHT + DAY + SETTLING_TIME) == 24 + 1
        assert await _read("day") == {(monitor.id, MIDNIGHT): _sum_up(results)}

    async def test_waits_until_an_hour_has_settled(self) -> None:
        [monitor] = await make_monitors()
        await write_down([make_result(monitor.id, NOON)])
        assert await roll_up(NOON + HOUR + SETTLING_TIME - timedelta(microseconds=1)) == 0
        assert await roll_up(NOON + HOUR + SETTLING_TIME) == 1

    async def test_of_nothing_begins_nothing(self) -> None:
        await make_monitors()
        assert await roll_up(NOON) == 0
        assert await Progress.all().count() == 0

    async def test_catches_up_hour_by_hour_after_a_long_stop(self) -> None:
        [monitor] = await make_monitors()
        await write_down([make_result(monitor.id, MIDNIGHT)])
        await roll_up(MIDNIGHT + HOUR + SETTLING_TIME)
        await write_down([make_result(monitor.id, MIDNIGHT + n * 7 * HOUR) for n in range(1, 10)])
        await roll_up(MIDNIGHT + 4 * DAY)
        assert len(await _read()) == 10
        assert [start for _, start in await _read("day")] == [MIDNIGHT + n * DAY for n in range(3)]
        assert await read_progress(DAILY.name) == MIDNIGHT + 3 * DAY
        assert await read_progress(HOURLY.name) == MIDNIGHT + 4 * DAY - HOUR  # the last has not settled

    async def test_again_changes_nothing(self) -> None:
        [monitor] = await make_monitors()
        await write_down(_make_results(monitor.id, MIDNIGHT, MIDNIGHT + DAY, HOUR))
        now = MIDNIGHT + DAY + HOUR
        await roll_up(now)
        before = [await _read("hour"), await _read("day")]
        assert await roll_up(now) == 0
        await Progress.all().delete()
        assert await roll_up(now) > 0
        assert [await _read("hour"), await _read("day")] == before

    async def test_makes_no_row_where_nobody_looked_or_could_see(self) -> None:
        blind, _ = await make_monitors(2)
        await write_down([make_result(blind.id, NOON, "unknown", None)])
        await roll_up(NOON + 2 * HOUR)
        assert await _read() == {}

    async def test_forgets_what_a_deleted_monitor_left_behind(self) -> None:
        kept, deleted = await make_monitors(2)
        await write_down([make_result(kept.id), make_result(deleted.id)])
        await Monitor.filter(id=deleted.id).delete()
        await roll_up(NOON + 2 * HOUR)
        assert [monitor_id for monitor_id, _ in await _read()] == [kept.id]

    async def test_goes_through_all_monitors_portion_by_portion(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(rollups, "MONITORS_A_PORTION", 2)
        monitors = await make_monitors(5)
        await write_down([make_result(monitor.id) for monitor in monitors])
        assert await roll_up(NOON + 2 * HOUR - MINUTE) == 1
        assert {monitor_id for monitor_id, _ in await _read()} == {monitor.id for monitor in monitors}


class TestSeveralWorkersAtOnce:
    async def test_together_do_the_work_of_one(self, backends: Backends) -> None:
        monitors = await make_monitors(3)
        results = {each.id: _make_results(each.id, MIDNIGHT, MIDNIGHT + DAY, HOUR) for each in monitors}
        await write_down([result for each in results.values() for result in each])
        now = MIDNIGHT + DAY + SETTLING_TIME

        async def work() -> int:
            async with open_backends(backends.settings) as others:
                with others.activate():
                    return await roll_up(now)

        await asyncio.gather(*(work() for _ in range(4)))
        await roll_up(now)  # whoever found the job held had left it
        assert await _read("day") == {
            (monitor_id, MIDNIGHT): _sum_up(found) for monitor_id, found in results.items()
        }
        assert len(await _read()) == sum(
            len({each.checked_at for each in found if each.outcome != "unknown"})
            for found in results.values()
        )

    @pytest.mark.production("SQLite has one writer at a time, and waits for it")
    async def test_leave_a_job_to_who_holds_it(self, backends: Backends) -> None:
        [monitor] = await make_monitors()
        await write_down([make_result(monitor.id)])
        await Progress.create(job=HOURLY.name, done_until=NOON)
        async with another_process_did(backends, "SELECT * FROM progress FOR UPDATE"):
            assert await roll_up(NOON + 2 * HOUR) == 0
        assert await roll_up(NOON + 2 * HOUR - MINUTE) == 1
