"""A worker that takes one message of the garden, prints it, and does nothing more."""

from __future__ import annotations

import asyncio

from monitoring.backends.assembly import open_backends
from monitoring.backends.tasks import task
from monitoring.settings import read_settings


@task(queue_name="garden")
async def wait_for_rain(plant_id: str) -> None:
    print(plant_id, flush=True)  # noqa: T201 - for the test that started it
    await asyncio.Event().wait()


async def take_a_message() -> None:
    async with open_backends(
        read_settings(), model_modules=("backends.garden_models",), tasks=(wait_for_rain,)
    ) as backends:
        backends.start_worker()
        await asyncio.Event().wait()


asyncio.run(take_a_message())
