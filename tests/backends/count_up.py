"""One of several processes that repeatedly read a bed's free places and write one more."""

from __future__ import annotations

import asyncio
import sys

from backends.garden_models import Bed
from monitoring.backends.assembly import open_backends
from monitoring.backends.database import transaction
from monitoring.settings import read_settings


async def count_up(bed_id: str, times: int) -> None:
    async with open_backends(
        read_settings(), model_modules=("backends.garden_models",), tasks=()
    ) as backends:
        with backends.activate():
            for _ in range(times):
                async with transaction():
                    bed = await Bed.get(id=bed_id)
                    bed.free_places += 1
                    await bed.save()


asyncio.run(count_up(sys.argv[1], int(sys.argv[2])))
