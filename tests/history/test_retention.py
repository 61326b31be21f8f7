"""What is deleted in time, what is kept, and that deleting holds up no other work."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from history.diary import DAY, HOUR, NOON, another_process_did, make_monitors, make_result, write_down
from monitoring.backends.current import current_backends
from monitoring.backends.errors import DatabaseUnavailable
from monitoring.checks.upkeep import keep_up
from monitoring.history import queries, retention
from monitoring.history.models import Progress, Rollup
from monitoring.history.queries import ensure_partitions, list_results
from monitoring.history.retention import apply_retention
from monitoring.history.rollups import HOURLY, roll_up

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from monitoring.backends.assembly import Backends

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

MIDNIGHT = NOON.replace(hour=0)
KEPT_DAYS = 14  # of results, unless the operator says otherwise

on_postgres = pytest.mark.production("SQLite has no partitions")


async def _moments(monitor_id: UUID) -> list[datetime]:
    return [result.checked_at for result in await list_results(monitor_id, limit=10_000)]


async def _partitions() -> list[str]:
    connection = current_backends().database.context.db()
    sql = "SELECT relname FROM pg_class WHERE relname LIKE 'checks\\_%' AND relkind = 'r' ORDER BY relname"
    return [row["relname"] for row in await connection.execute_query_dict(sql)]


async def _say_rolled_up(until: datetime) -> None:
    await Progress.create(job=HOURLY.name, done_until=until)


class TestResults:
    async def test_are_forgotten_once_all_of_their_day_is_too_old(self) -> None:
        [monitor] = await make_monitors()
        moments = [MIDNIGHT + n * 6 * HOUR for n in range(12)]
        await write_down([make_result(monitor.id, moment) for moment in moments])
        await _say_rolled_up(MIDNIGHT + 30 * DAY)
        await apply_retention(MIDNIGHT + KEPT_DAYS * DAY)
        assert await _moments(monitor.id) == moments[::-1]
        await apply_retention(MIDNIGHT + (KEPT_DAYS + 1) * DAY)
        assert await _moments(monitor.id) == moments[:3:-1]

    async def test_are_never_forgotten_before_they_are_rolled_up(self) -> None:
        [monitor] = await make_monitors()
        await write_down([make_result(monitor.id, NOON + n * DAY) for n in range(3)])
        await apply_retention(NOON + 400 * DAY)
        assert len(await _moments(monitor.id)) == 3
        await _say_rolled_up(MIDNIGHT + DAY)
        await apply_retention(NOON + 400 * DAY)
        assert await _moments(monitor.id) == [NOON + 2 * DAY, NOON + DAY]

    async def test_are_forgotten_portion_by_portion_to_the_last(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(queries, "ROWS_A_PORTION", 2)
        [monitor] = await make_monitors()
        await write_down([make_result(monitor.id, NOON + n * HOUR) for n in range(9)])
        await _say_rolled_up(NOON + DAY)
        await apply_retention(NOON + 400 * DAY)
        assert await _moments(monitor.id) == []

    @on_postgres
    async def test_of_a_day_go_with_their_table_and_other_tables_stay(self) -> None:
        [monitor] = await make_monitors()
        await ensure_partitions(NOON, NOON + 2 * DAY)
        await write_down([make_result(monitor.id, NOON + n * DAY) for n in range(3)])
        connection = current_backends().database.context.db()
        await connection.execute_query("CREATE TABLE checks_of_somebody_else (id INT)")
        await connection.execute_query("CREATE RULE never_delete AS ON DELETE TO checks DO INSTEAD NOTHING")
        await _say_rolled_up(NOON + 30 * DAY)
        await apply_retention(MIDNIGHT + (KEPT_DAYS + 2) * DAY)
        assert await _partitions() == ["checks_20261122", "checks_of_somebody_else"]

    @on_postgres
    async def test_that_somebody_reads_are_left_for_the_next_time(
        self, backends: Backends, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("monitoring.history.queries.DROP_PATIENCE", "10ms")
        [monitor] = await make_monitors()
        await write_down([make_result(monitor.id)])
        await _say_rolled_up(NOON + 30 * DAY)
        async with another_process_did(backends, "SELECT count(*) FROM checks"):
            with pytest.raises(DatabaseUnavailable):
                await apply_retention(NOON + 30 * DAY)
        assert await _moments(monitor.id) == [NOON]
        await apply_retention(NOON + 30 * DAY)
        assert await _partitions() == []


class TestRollups:
    @pytest.mark.parametrize(("window", "kept_days"), [("hour", 100), ("day", 800)])
    async def test_are_forgotten_once_their_day_is_too_old(self, window: str, kept_days: int) -> None:
        [monitor] = await make_monitors()
        counts: dict[str, Any] = {"check_count": 1, "failed_check_count": 0, "latencies": {}}
        starts = [MIDNIGHT - HOUR, MIDNIGHT, MIDNIGHT + 23 * HOUR]
        for start in starts:
            await Rollup.create(monitor_id=monitor.id, window=window, starts_at=start, **counts)
        await apply_retention(MIDNIGHT + (kept_days + 1) * DAY - timedelta(microseconds=1))
        kept = await Rollup.all().order_by("starts_at").values_list("starts_at", flat=True)
        assert kept == starts[1:]

    async def test_are_forgotten_portion_by_portion_to_the_last(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(retention, "ROWS_A_PORTION", 2)
        [monitor] = await make_monitors()
        await write_down([make_result(monitor.id, NOON + n * HOUR) for n in range(5)])
        await roll_up(NOON + 6 * HOUR)
        assert await Rollup.all().count() == 5
        await apply_retention(NOON + 900 * DAY)
        assert await Rollup.all().count() == 0


class TestUpkeep:
    @on_postgres
    async def test_makes_room_from_yesterday_to_three_days_ahead(self) -> None:
        await keep_up(NOON)
        assert await _partitions() == [f"checks_202611{day}" for day in range(19, 24)]

    @on_postgres
    async def test_by_several_at_once_makes_each_day_once(self) -> None:
        await asyncio.gather(*(keep_up(NOON) for _ in range(6)))
        assert len(await _partitions()) == 5

    @on_postgres
    async def test_makes_room_while_others_store(self, backends: Backends) -> None:
        [monitor] = await make_monitors()
        storing = "LOCK TABLE checks IN ROW EXCLUSIVE MODE"  # as INSERT does
        async with another_process_did(backends, storing):
            await keep_up(NOON)
        await write_down([make_result(monitor.id)])

    async def test_rolls_up_and_then_forgets(self) -> None:
        [monitor] = await make_monitors()
        await write_down([make_result(monitor.id, NOON + n * HOUR) for n in range(48)])
        await keep_up(NOON + 30 * DAY)
        await apply_retention(NOON + 30 * DAY)
        assert await _moments(monitor.id) == []
        assert await Rollup.filter(window="hour").count() == 48
        assert await Rollup.filter(window="day").count() == 3
