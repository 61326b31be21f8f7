from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

from monitoring.backends.assembly import Backends, current_backends
from monitoring.backends.outage import Outage
from monitoring.backends.redis_broker import PatientBroker
from monitoring.backends.tasks import task
from real_servers import find_free_port
from temporary_backends import ENCRYPTION_KEY, SIGNING_KEY, temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
pytestmark = pytest.mark.anyio

received: asyncio.Queue[tuple[str, Backends, str]]
it_rains: asyncio.Event


@task(queue_name="garden")
async def water_plant(plant_id: str) -> None:
    received.put_nowait((plant_id, current_backends(), threading.current_thread().name))


@task(queue_name="garden")
async def trip_over() -> None:
    raise ValueError("a stone")


@task(queue_name="garden")
async def wait_for_rain(plant_id: str) -> None:
    received.put_nowait((plant_id, current_backends(), "waiting"))
    try:
        await it_rains.wait()
    except asyncio.CancelledError:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0.5)  # longer than the queue's threads take to end
        received.put_nowait((plant_id, current_backends(), "cancelled"))
        raise
    received.put_nowait((plant_id, current_backends(), "watered"))


@task(queue_name="greenhouse", at_once=6)
async def wait_for_the_sun(plant_id: str) -> None:
    await wait_for_rain.function(plant_id)


TESTS = Path(__file__).parents[1]
GARDEN = ("backends.garden_models",)
TASKS = (water_plant, trip_over, wait_for_rain, wait_for_the_sun)


@pytest.fixture
async def backends(tmp_path: Path) -> AsyncIterator[Backends]:
    global received, it_rains  # tasks are module functions, so what they touch is global too
    received, it_rains = asyncio.Queue(), asyncio.Event()
    async with temporary_backends(tmp_path, model_modules=GARDEN, tasks=TASKS) as opened:
        yield opened


async def _next_received() -> tuple[str, Backends, str]:
    return await asyncio.wait_for(received.get(), 5)


class TestTaskQueue:
    async def test_a_task_runs_on_the_loop_with_the_backends_active(self, backends: Backends) -> None:
        backends.start_worker()
        await water_plant.send("rose")
        assert await _next_received() == ("rose", backends, threading.current_thread().name)

    async def test_messages_sent_at_once_arrive_once_each(self, backends: Backends) -> None:
        backends.start_worker()
        plants = [f"rose {number}" for number in range(40)]
        await asyncio.gather(*map(water_plant.send, plants))
        arrived = [(await _next_received())[0] for _ in plants]
        assert sorted(arrived) == sorted(plants)
        assert received.empty()

    @pytest.mark.production("the queue within the process is never away")
    async def test_the_first_message_that_may_be_tried_after_an_outage_is_sent(
        self, backends: Backends, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        breaker = backends.queue._breaker  # noqa: SLF001
        breaker.open()
        await water_plant.send("tulip")
        monkeypatch.setattr(breaker, "_retry_at", 0.0)
        await water_plant.send("rose")
        backends.start_worker()
        assert (await _next_received())[0] == "rose"

    async def test_a_message_sent_before_the_worker_starts_is_delivered(self, backends: Backends) -> None:
        await water_plant.send("rose")
        backends.start_worker()
        assert (await _next_received())[0] == "rose"

    async def test_a_delayed_message_comes_after_the_delay(self, backends: Backends) -> None:
        backends.start_worker()
        began = time.monotonic()
        await water_plant.send("rose", delay_seconds=0.5)
        await _next_received()
        assert time.monotonic() - began > 0.45

    @pytest.mark.traceback_expected("a task raises what no code foresees")
    async def test_a_task_that_raises_is_logged_and_does_not_stop_others(
        self, backends: Backends, caplog: pytest.LogCaptureFixture
    ) -> None:
        backends.start_worker()
        await trip_over.send()
        await water_plant.send("rose")
        await _next_received()
        async with asyncio.timeout(5):
            while "a stone" not in caplog.text:  # noqa: ASYNC110 - logged in a thread
                await asyncio.sleep(0.01)

    async def test_as_many_tasks_run_at_once_as_there_are_threads(self, backends: Backends) -> None:
        backends.start_worker()
        for number in range(backends.settings.worker_threads):
            await wait_for_rain.send(str(number))
        waiting = {(await _next_received())[0] for _ in range(backends.settings.worker_threads)}
        assert waiting == {"0", "1", "2", "3"}

    async def test_a_queue_has_turns_of_its_own_as_many_as_its_tasks_ask_for(
        self, backends: Backends
    ) -> None:
        backends.start_worker()
        for number in range(backends.settings.worker_threads):
            await wait_for_rain.send(str(number))
            await _next_received()
        for number in range(6):
            await wait_for_the_sun.send(str(number))
        assert {(await _next_received())[0] for _ in range(6)} == set("012345")

    async def test_stopping_cancels_what_is_in_flight_and_does_not_wait_for_it(
        self, backends: Backends
    ) -> None:
        backends.start_worker()
        await wait_for_rain.send("rose")
        assert (await _next_received())[2] == "waiting"
        async with asyncio.timeout(30):
            await backends.stop_worker()
        assert (await _next_received())[2] == "cancelled"

    async def test_a_worker_can_be_started_again(self, backends: Backends) -> None:
        backends.start_worker()
        await backends.stop_worker()
        await water_plant.send("rose")
        backends.start_worker()
        assert (await _next_received())[0] == "rose"


@pytest.mark.production("the queue within the process is never away")
async def test_sending_without_redis_is_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    address = f"127.0.0.1:{find_free_port()}"
    url = SecretStr(f"redis://{address}/0")
    async with temporary_backends(tmp_path, model_modules=GARDEN, tasks=TASKS, redis_url=url):
        for _ in range(100):
            await water_plant.send("rose")
    assert [each.levelno for each in caplog.records if address in each.getMessage()] == [logging.WARNING]


@pytest.mark.production("the queue within the process is never away")
async def test_a_consumer_without_redis_is_one_warning_however_often_it_asks(
    own_log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("monitoring.backends.redis_broker.PATIENCE_SECONDS", 0)
    broker = PatientBroker(f"redis://127.0.0.1:{find_free_port()}/0", Outage("The queue is away"))
    consumer = broker.consume("garden")
    assert [next(consumer) for _ in range(10)] == [None] * 10
    assert [record.levelno for record in own_log.records] == [logging.WARNING]


@pytest.mark.production("the queue within the process is never silent")
async def test_sending_to_a_redis_that_is_silent_waits_for_it_once(tmp_path: Path) -> None:
    silent = await asyncio.start_server(lambda _reader, _writer: asyncio.sleep(60), "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    settings = {"redis_url": f"redis://127.0.0.1:{port}/0"}
    async with temporary_backends(tmp_path, model_modules=GARDEN, tasks=TASKS, **settings):
        async with asyncio.timeout(30):  # the hundred would take a second each
            for _ in range(100):
                await water_plant.send("rose")
    silent.close()


class TestStopping:
    """Stopping a worker with tasks in flight."""

    async def test_they_may_finish_in_the_time_given(self, backends: Backends) -> None:
        backends.start_worker()
        await wait_for_rain.send("rose")
        await _next_received()
        stopping = asyncio.create_task(backends.stop_worker(finishing_seconds=600))
        await asyncio.sleep(0)
        it_rains.set()
        await stopping
        assert (await _next_received())[2] == "watered"

    @pytest.mark.production("the queue within the process ends with its worker")
    async def test_one_that_was_cancelled_is_sent_again(self, backends: Backends) -> None:
        backends.start_worker()
        await wait_for_rain.send("rose")
        await _next_received()
        await backends.stop_worker(finishing_seconds=0.01)
        assert (await _next_received())[2] == "cancelled"
        backends.start_worker()
        assert (await _next_received())[0] == "rose"

    async def test_whoever_cancels_the_stop_cancels_them_at_once(self, backends: Backends) -> None:
        backends.start_worker()
        await wait_for_rain.send("rose")
        await _next_received()
        stopping = asyncio.create_task(backends.stop_worker(finishing_seconds=600))
        await asyncio.sleep(0)
        stopping.cancel()
        await asyncio.wait([stopping])
        assert received.get_nowait()[2] == "cancelled"

    async def test_a_loop_that_closes_waits_for_them_too(self, backends: Backends) -> None:
        others = asyncio.all_tasks()
        backends.start_worker()
        await wait_for_rain.send("rose")
        await _next_received()
        stopping = asyncio.create_task(backends.stop_worker(finishing_seconds=600))
        await asyncio.sleep(0)
        for each in (*(asyncio.all_tasks() - others - {stopping}), stopping):
            each.cancel()
        await asyncio.wait([stopping])
        assert received.get_nowait()[2] == "cancelled"

    @pytest.mark.production("the queue within the process ends with its worker")
    async def test_messages_not_begun_wait_for_the_next_worker(self, backends: Backends) -> None:
        backends.start_worker()
        for number in range(10):
            await wait_for_rain.send(str(number))
        for _ in range(backends.settings.worker_threads):
            assert (await _next_received())[2] == "waiting"
        await backends.stop_worker()
        it_rains.set()
        backends.start_worker()
        watered: set[str] = set()
        while len(watered) < 10:
            plant_id, _, what = await _next_received()
            if what == "watered":
                watered.add(plant_id)


@pytest.mark.production("the queue within the process dies with its worker")
async def test_a_killed_workers_message_is_delivered_to_another_within_a_minute(
    backends: Backends, tmp_path: Path
) -> None:
    assert backends.settings.redis_url
    environment = {
        "PYTHONPATH": str(TESTS),
        "DATA_DIR": str(tmp_path),
        "SIGNING_KEYS": SIGNING_KEY,
        "ENCRYPTION_KEYS": ENCRYPTION_KEY,
        "REDIS_URL": backends.settings.redis_url.get_secret_value(),
    }
    await wait_for_rain.send("rose")
    killed = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "backends.take_a_message",
        env=os.environ | environment,
        stdout=asyncio.subprocess.PIPE,
    )
    assert killed.stdout
    assert await killed.stdout.readline() == b"rose\n"
    killed.kill()
    await killed.wait()
    backends.start_worker()
    assert (await asyncio.wait_for(received.get(), 60))[0] == "rose"
