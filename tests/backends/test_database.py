from __future__ import annotations

import asyncio
import gc
import os
import shutil
import subprocess
import sys
import threading
from contextlib import nullcontext, suppress
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tortoise.backends.asyncpg.client import TransactionWrapper
from tortoise.exceptions import IntegrityError
from tortoise.expressions import F

from backends.garden_models import Bed, Plant
from frozen_servers import frozen
from metric_values import reading
from monitoring.backends.assembly import Backends, open_backends
from monitoring.backends.database import after_commit, transaction
from monitoring.backends.database_clients.configuration import WRITE_AHEAD_LOG_BYTES
from monitoring.backends.errors import BackendUnavailable, DatabaseUnavailable, TransactionConflict
from monitoring.backends.statements import is_postgres
from real_servers import find_free_port, running_postgres
from temporary_backends import ENCRYPTION_KEY, make_settings, temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from contextlib import AbstractAsyncContextManager

    from real_servers import PostgresServer

pytestmark = pytest.mark.anyio
GARDEN = ("backends.garden_models",)
EAST = timezone(timedelta(hours=5, minutes=30))


@pytest.fixture
async def backends(tmp_path: Path) -> AsyncIterator[Backends]:
    async with temporary_backends(tmp_path, model_modules=GARDEN, tasks=()) as opened:
        yield opened


def replace_in_this_thread(
    patching: pytest.MonkeyPatch, name: str, replacement: Callable[[TransactionWrapper], Awaitable[None]]
) -> None:
    """Replace a method of transactions. In other threads, services of earlier tests begin some, too."""
    here, original = threading.get_ident(), getattr(TransactionWrapper, name)

    async def choose(transaction: TransactionWrapper) -> None:
        await (replacement if threading.get_ident() == here else original)(transaction)

    patching.setattr(TransactionWrapper, name, choose)


@pytest.mark.usefixtures("backends")
class TestTransaction:
    async def test_everything_inside_happens_or_nothing_does(self) -> None:
        with pytest.raises(ZeroDivisionError):
            await _create_bed_and_fail("south")
        assert await Bed.all().count() == 0

    async def test_what_was_put_off_is_done_after_the_outermost_commit(self) -> None:
        done: list[str] = []
        after_commit(lambda: done.append("outside"))
        async with transaction():
            after_commit(lambda: done.append("outer"))
            async with transaction():
                after_commit(lambda: done.append("inner"))
            with suppress(RuntimeError):
                async with transaction():
                    after_commit(lambda: done.append("rolled back"))
                    raise RuntimeError
            assert done == ["outside"]
        assert done == ["outside", "outer", "inner"]

    async def test_an_inner_transaction_can_fail_alone(self) -> None:
        async with transaction():
            await Bed.create(name="south")
            with pytest.raises(ZeroDivisionError):
                await _create_bed_and_fail("north")
        assert [bed.name for bed in await Bed.all()] == ["south"]

    async def test_fifty_at_once_cannot_overbook_ten_places(self) -> None:
        bed = await Bed.create(name="south", free_places=10)

        async def plant(number: int) -> bool:
            async with transaction():
                locked = await Bed.select_for_update().get(id=bed.id)
                if not locked.free_places:
                    return False
                await Plant.create(bed=bed, species=str(number))
                await Bed.filter(id=bed.id).update(free_places=F("free_places") - 1)
                return True

        assert sum(await asyncio.gather(*map(plant, range(50)))) == 10
        assert await Plant.all().count() == 10

    async def test_one_that_is_cancelled_leaves_the_connection_usable(self) -> None:
        async def dawdle() -> None:
            async with transaction():
                await Bed.create(name="south")
                await asyncio.Event().wait()

        for delay_seconds in (0, 0.001, 0.01, 0.05):
            task = asyncio.create_task(dawdle())
            await asyncio.sleep(delay_seconds)
            task.cancel()
            await asyncio.wait([task])
        async with transaction():
            assert await Bed.all().count() == 0

    @pytest.mark.production("SQLite's connection goes back to no pool")
    async def test_one_that_is_cancelled_while_it_begins_leaves_a_connection_like_new(
        self, monkeypatch: pytest.MonkeyPatch, own_log: pytest.LogCaptureFixture
    ) -> None:
        begin = TransactionWrapper.begin

        async def begin_slowly(transaction: TransactionWrapper) -> None:
            await begin(transaction)
            has_begun.set()
            await may_go_on.wait()

        async def create() -> None:
            async with transaction():
                await Bed.create(name="south")

        for number in range(20):  # to use every connection of the pool
            has_begun, may_go_on = asyncio.Event(), asyncio.Event()
            with monkeypatch.context() as patched:
                replace_in_this_thread(patched, "begin", begin_slowly)
                task = asyncio.create_task(create())
                await has_begun.wait()
                task.cancel()
                await asyncio.sleep(0)
                may_go_on.set()
                await asyncio.wait([task])
            assert task.cancelled()
            async with transaction():
                await Bed.create(name=f"north {number}")
        assert await Bed.all().count() == 20
        assert not [record for record in own_log.records if record.name == "asyncio"]

    @pytest.mark.production("SQLite's connection goes back to no pool")
    async def test_one_that_is_cancelled_at_its_very_end_leaves_its_task_another_connection(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        commit = TransactionWrapper.commit

        async def commit_and_cancel(transaction: TransactionWrapper) -> None:
            await commit(transaction)
            working.cancel()

        async def create_and_tidy_up() -> None:
            try:
                async with transaction():
                    await Bed.create(name="south")
            except asyncio.CancelledError:
                await Bed.filter(name="south").delete()
                raise

        replace_in_this_thread(monkeypatch, "commit", commit_and_cancel)
        working = asyncio.create_task(create_and_tidy_up())
        with pytest.raises(asyncio.CancelledError):
            await working
        assert await Bed.all().count() == 0

    @pytest.mark.production("SQLite's connection goes back to no pool")
    async def test_one_that_is_cancelled_twice_while_it_ends_ends_whole(
        self, monkeypatch: pytest.MonkeyPatch, own_log: pytest.LogCaptureFixture
    ) -> None:
        commit = TransactionWrapper.commit
        is_ending, may_end = asyncio.Event(), asyncio.Event()

        async def commit_slowly(transaction: TransactionWrapper) -> None:
            is_ending.set()
            await may_end.wait()
            await commit(transaction)

        async def create() -> None:
            async with transaction():
                await Bed.create(name="south")

        replace_in_this_thread(monkeypatch, "commit", commit_slowly)
        working = asyncio.create_task(create())
        await is_ending.wait()
        for _ in range(2):
            working.cancel()
            await asyncio.sleep(0)
        may_end.set()
        await asyncio.wait([working])
        assert working.cancelled()
        assert await Bed.all().count() == 1
        assert not [record for record in own_log.records if record.name == "asyncio"]

    async def test_a_bulk_insert_that_is_cancelled_leaves_no_transaction_open(
        self, own_log: pytest.LogCaptureFixture
    ) -> None:
        for delay_seconds in (0, 0.001, 0.002, 0.004, 0.008):
            beds = [Bed(name=f"{delay_seconds} {number}") for number in range(2000)]
            task = asyncio.ensure_future(Bed.bulk_create(beds))
            await asyncio.sleep(delay_seconds)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            async with transaction():
                assert await Bed.all().count() % 2000 == 0
        assert not [record for record in own_log.records if record.name == "asyncio"]

    async def test_a_bulk_insert_that_is_cancelled_and_refused_leaves_nothing_to_be_told(
        self, own_log: pytest.LogCaptureFixture
    ) -> None:
        for delay_seconds in (0, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032):
            task = asyncio.ensure_future(Bed.bulk_create([Bed(name=str(n % 1999)) for n in range(2000)]))
            await asyncio.sleep(delay_seconds)
            task.cancel()
            with suppress(asyncio.CancelledError, IntegrityError):
                await task
        del task
        gc.collect()
        assert not [record for record in own_log.records if record.name == "asyncio"]

    async def test_cancelling_while_others_wait_loses_no_connection(self) -> None:
        async def work(number: int) -> None:
            async with transaction():
                await Bed.create(name=str(number))

        for _ in range(3):
            tasks = [asyncio.create_task(work(number)) for number in range(1000, 1040)]
            await asyncio.sleep(0.005)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await Bed.all().delete()
        await asyncio.wait_for(asyncio.gather(*(work(number) for number in range(40))), 5)
        assert await Bed.all().count() == 40


class TestFields:
    async def test_moments_come_back_in_utc_with_microseconds(self, backends: Backends) -> None:
        moment = datetime(2026, 3, 1, 9, 30, 0, 120, tzinfo=EAST)
        bed = await Bed.create(name=f"south {backends.settings.port}")
        await Plant.create(bed=bed, species="rose", watered_at=moment)
        found = await Plant.get(species="rose")
        assert found.watered_at == moment
        assert found.watered_at.tzinfo is UTC
        assert found.planted_at.tzinfo is UTC

    async def test_moments_of_different_zones_compare_as_moments(self, backends: Backends) -> None:
        bed = await Bed.create(name=f"south {backends.settings.port}")
        noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
        for species, moment in (
            ("first", noon - timedelta(microseconds=1)),
            ("second", noon),
            ("third", (noon + timedelta(microseconds=1)).astimezone(EAST)),
        ):
            await Plant.create(bed=bed, species=species, watered_at=moment)
        after = Plant.filter(watered_at__gte=noon.astimezone(EAST)).order_by("watered_at")
        assert [plant.species for plant in await after] == ["second", "third"]

    @pytest.mark.usefixtures("backends")
    async def test_a_moment_without_a_zone_is_refused(self) -> None:
        bed = await Bed.create(name="south")
        with pytest.raises(ValueError, match="time zone"):
            await Plant.create(bed=bed, species="rose", watered_at=datetime(2026, 3, 1))  # noqa: DTZ001

    @pytest.mark.usefixtures("backends")
    async def test_json_keeps_the_order_of_its_keys(self) -> None:
        bed = await Bed.create(name="south")
        notes = {"zinnia": 1, "aster": {"b": [1, None, "ü"], "a": 2**63 - 1}}
        await Plant.create(bed=bed, species="rose", notes=notes)
        found = await Plant.get(species="rose")
        assert list(found.notes) == ["zinnia", "aster"]
        assert found.notes == notes
        assert (await Plant.all().values("notes"))[0]["notes"] == notes


class TestSeveralProcesses:
    @pytest.mark.embedded("SQLite locks at a transaction's begin, PostgreSQL the rows it is asked to lock")
    async def test_three_that_read_and_then_write_one_sqlite_file_lose_no_update(
        self, tmp_path: Path
    ) -> None:
        async with temporary_backends(tmp_path, model_modules=GARDEN, tasks=()):
            bed = await Bed.create(name="south", free_places=0)
            environment = os.environ | {
                "DATA_DIR": str(tmp_path),
                "SIGNING_KEYS": "k" * 32,
                "ENCRYPTION_KEYS": ENCRYPTION_KEY,
                "PYTHONPATH": str(Path(__file__).parents[1]),
            }
            script = [sys.executable, str(Path(__file__).with_name("count_up.py")), str(bed.id), "100"]
            processes = [
                subprocess.Popen(script, env=environment, stderr=subprocess.PIPE)  # noqa: ASYNC220
                for _ in range(3)
            ]
            errors = [(await asyncio.to_thread(process.communicate))[1].decode() for process in processes]
            assert errors == ["", "", ""]
            assert (await Bed.get(id=bed.id)).free_places == 300


@pytest.mark.production("SQLite has no pool")
async def test_the_gauge_of_the_pool_counts_each_connection_once(tmp_path: Path) -> None:
    has_begun, may_end = asyncio.Event(), asyncio.Event()

    async def dawdle() -> None:
        async with transaction():
            has_begun.set()
            await may_end.wait()

    async with temporary_backends(tmp_path, database_pool_max_connections=3) as backends:

        def measure() -> list[float]:
            backends.database.measure_pool()
            return [reading("database_pool_connections", state=each) for each in ("busy", "idle", "unopened")]

        assert measure() == [0, 0, 3]
        waited_seconds = reading("database_pool_wait_seconds_total")
        dawdling = asyncio.create_task(dawdle())
        await has_begun.wait()
        assert measure() == [1, 0, 2]
        may_end.set()
        await dawdling
        assert measure() == [0, 1, 2]
        assert reading("database_pool_wait_seconds_total") > waited_seconds


@pytest.mark.embedded("SQLite is told with pragmas")
async def test_what_sqlite_is_told_is_not_overruled_by_tortoise(backends: Backends) -> None:
    pragmas = {"journal_mode": "wal", "synchronous": 2, "journal_size_limit": WRITE_AHEAD_LOG_BYTES}
    connection = backends.database.context.db()
    told = {name: (await connection.execute_query_dict(f"PRAGMA {name}"))[0][name] for name in pragmas}
    assert told == pragmas


class TestUnavailable:
    async def test_a_table_of_migrations_that_cannot_be_read(self, tmp_path: Path) -> None:
        async with temporary_backends(tmp_path, tasks=()) as backends:
            connection = backends.database.context.db()
            if is_postgres(connection):
                await connection.execute_script("ALTER TABLE tortoise_migrations RENAME name TO called")
            else:
                await connection.execute_script(
                    "DROP TABLE tortoise_migrations; CREATE VIEW tortoise_migrations AS SELECT name FROM gone"
                )
            with pytest.raises(DatabaseUnavailable, match=r'column "name"|main\.gone'):
                await backends.database.read_schema()

    async def test_not_a_database_without_tables(self, tmp_path: Path) -> None:
        async with open_backends(make_settings(tmp_path), tasks=()) as backends:
            schema = await backends.database.read_schema()
        assert not schema.applied
        assert schema.pending

    @pytest.mark.embedded("SQLite is a file that others can keep locked")
    async def test_a_sqlite_file_that_another_process_keeps_locked(self, tmp_path: Path) -> None:
        impatient = temporary_backends(
            tmp_path, model_modules=GARDEN, tasks=(), database_timeout_seconds=0.05
        )
        async with impatient as backends:
            async with open_backends(backends.settings, model_modules=GARDEN, tasks=()) as others:
                with others.activate():
                    async with transaction():
                        with backends.activate(), pytest.raises(DatabaseUnavailable):
                            async with transaction():
                                pass
                        with backends.activate(), pytest.raises(DatabaseUnavailable):
                            await Bed.create(name="south")
            await Bed.create(name="south")

    @pytest.mark.embedded("SQLite lives in a folder")
    async def test_a_sqlite_folder_that_is_gone_and_comes_back(self, tmp_path: Path) -> None:
        settings = make_settings(tmp_path / "data", blog_storage_url=None)
        async with open_backends(settings, model_modules=GARDEN, tasks=()) as backends:
            shutil.rmtree(tmp_path / "data")
            for _ in range(2):
                with backends.activate(), pytest.raises(DatabaseUnavailable):
                    async with transaction():
                        pass
                with pytest.raises(DatabaseUnavailable):
                    await backends.database.context.db().execute_query("SELECT 1")
            (tmp_path / "data").mkdir()
            await backends.database.context.db().execute_query("SELECT 1")

    @pytest.mark.production("PostgreSQL is another process, perhaps on another machine")
    async def test_postgresql_that_is_not_there(self, tmp_path: Path) -> None:
        url = f"postgresql://nobody@127.0.0.1:{find_free_port()}/nothing"
        settings = make_settings(tmp_path, database_url=url)
        async with open_backends(settings, model_modules=GARDEN, tasks=()) as backends:
            with pytest.raises(BackendUnavailable):
                await backends.database.context.db().execute_query("SELECT 1")

    @pytest.mark.production("PostgreSQL restarts without the service")
    async def test_postgresql_that_restarts_is_used_again(self, tmp_path: Path) -> None:
        with running_postgres() as server:
            url = server.create_database()
            async with temporary_backends(
                tmp_path, database_url=url, model_modules=GARDEN, tasks=()
            ) as backends:
                await Bed.create(name="south")
                with pytest.raises(DatabaseUnavailable):  # noqa: PT012 - the outage begins inside
                    async with transaction():
                        await Bed.create(name="north")
                        server.stop()
                        await Bed.create(name="east")
                with pytest.raises(DatabaseUnavailable):
                    await Bed.all().count()
                server.start()
                await backends.database.context.db().execute_query("SELECT 1")
                assert await Bed.all().count() == 1

    @pytest.mark.production("PostgreSQL can be silent")
    @pytest.mark.parametrize("inside", [nullcontext, transaction], ids=["alone", "in a transaction"])
    @pytest.mark.parametrize("beds", [1, 2000])
    @pytest.mark.parametrize("times", [1, 2])
    async def test_what_is_cancelled_while_postgresql_is_silent_is_cancelled(
        self,
        inside: Callable[[], AbstractAsyncContextManager[object]],
        beds: int,
        times: int,
        server: PostgresServer,
        tmp_path: Path,
    ) -> None:
        has_begun, is_silent = asyncio.Event(), asyncio.Event()

        async def work() -> None:
            async with inside():
                await Bed.all().count()
                has_begun.set()
                await is_silent.wait()
                await Bed.bulk_create([Bed(name=str(number)) for number in range(beds)])

        impatient = temporary_backends(
            tmp_path,
            database_url=server.create_database(),
            database_timeout_seconds=0.5,
            model_modules=GARDEN,
            tasks=(),
        )
        async with impatient as backends:
            task = asyncio.create_task(work())
            await has_begun.wait()
            with frozen(server):
                is_silent.set()
                for _ in range(times):
                    await asyncio.sleep(0.1)
                    task.cancel()
                await asyncio.wait([task])
            assert task.cancelled()
            await backends.database.context.db().execute_query("SELECT 1")

    @pytest.mark.production("SQLite knows no timeout but that for its lock")
    async def test_a_statement_that_takes_too_long_on_postgresql(self, tmp_path: Path) -> None:
        impatient = temporary_backends(tmp_path, model_modules=GARDEN, tasks=(), database_timeout_seconds=0.1)
        async with impatient as backends:
            with pytest.raises(DatabaseUnavailable):
                await backends.database.context.db().execute_query("SELECT pg_sleep(5)")
            await backends.database.context.db().execute_query("SELECT 1")

    @pytest.mark.production("SQLite's writers take turns, so that none waits for another")
    async def test_a_deadlock_on_postgresql_can_be_tried_again(self, tmp_path: Path) -> None:
        async with temporary_backends(tmp_path, model_modules=GARDEN, tasks=()):
            beds = [await Bed.create(name=name) for name in ("south", "north")]
            both_hold_one = asyncio.Barrier(2)

            async def lock_both(*names: Bed) -> None:
                async with transaction():
                    for number, bed in enumerate(names):
                        await Bed.filter(id=bed.id).update(free_places=1)
                        if number == 0:
                            await both_hold_one.wait()

            outcomes = await asyncio.gather(
                lock_both(*beds), lock_both(*reversed(beds)), return_exceptions=True
            )
            assert [type(outcome) for outcome in outcomes if outcome] == [TransactionConflict]


async def _create_bed_and_fail(name: str) -> None:
    async with transaction():
        await Bed.create(name=name)
        raise ZeroDivisionError
