from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from backends.garden_models import Bed
from monitoring.backends.assembly import current_backends, open_backends
from temporary_backends import make_settings, temporary_backends

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.anyio
GARDEN = ("backends.garden_models",)


async def test_without_activation_there_are_no_current_backends(tmp_path: Path) -> None:
    async with open_backends(make_settings(tmp_path), model_modules=GARDEN, tasks=()):
        with pytest.raises(RuntimeError, match="activate"):
            current_backends()


async def test_requests_that_overlap_keep_their_own_backends(tmp_path: Path) -> None:
    one = open_backends(make_settings(tmp_path / "one"), model_modules=GARDEN, tasks=())
    other = open_backends(make_settings(tmp_path / "other"), model_modules=GARDEN, tasks=())
    async with one as first, other as second:

        async def answer(number: int) -> None:
            mine = (first, second)[number % 2]
            with mine.activate():
                await asyncio.sleep(0.001 * (number % 7))
                assert current_backends() is mine
                await Bed.create(name=str(number))

        for backends in (first, second):
            with backends.activate():
                await backends.database.context.generate_schemas()
        await asyncio.gather(*map(answer, range(40)))
        with second.activate():
            names = [bed.name for bed in await Bed.all()]
        assert all(int(name) % 2 for name in names)
        assert len(names) == 20


async def test_apps_in_threads_of_one_process_do_not_meet(tmp_path: Path) -> None:
    async def serve(name: str) -> list[str]:
        async with temporary_backends(tmp_path / name, model_modules=GARDEN, tasks=()):
            for number in range(20):
                await Bed.create(name=f"{name} {number}")
            return [bed.name.partition(" ")[0] for bed in await Bed.all()]

    with ThreadPoolExecutor(4) as threads:
        running = [threads.submit(asyncio.run, serve(name)) for name in "abcd"]
        found = await asyncio.to_thread(lambda: [future.result() for future in running])
    assert found == [[name] * 20 for name in "abcd"]


@pytest.mark.production("embedded backends are never away at the start")
async def test_servers_that_are_away_do_not_stop_the_start(tmp_path: Path) -> None:
    settings = make_settings(
        tmp_path, database_url="postgresql://nobody@127.0.0.1:9/nothing", redis_url="redis://127.0.0.1:9/0"
    )
    async with asyncio.timeout(5):
        async with open_backends(settings, model_modules=GARDEN, tasks=()) as backends:
            backends.start_worker()
