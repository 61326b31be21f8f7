"""One of several processes that create, accept, claim and store rows in one database concurrently.

    python busy_process.py NUMBER TEAM_ID

It prints that it is ready, begins on command, and prints what it has done as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING
from uuid import UUID

from articles.desk import deliver
from checks.rounds import UP, found, ids_of
from monitoring.backends.assembly import open_backends
from monitoring.checks.claims import claim_due
from monitoring.checks.storing import store
from monitoring.monitors.service import create_monitor
from monitoring.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

# Long ago, so that rows that are created now are not due, whatever the clock shows.
DUE_AT = datetime(2020, 1, 1, tzinfo=UTC)

CREATED, DELIVERED, DELIVERED_BY_ALL = 40, 20, 20
CHECKERS, CLAIMED_AT_ONCE = 4, 5


async def create(team_id: UUID) -> Sequence[UUID]:
    monitors = [await create_monitor(team_id, {"url": "https://shop.example.com/"}) for _ in range(CREATED)]
    return [monitor.id for monitor in monitors]


async def take_in(number: int) -> Sequence[UUID]:
    """Submit articles, some of which the other processes submit as well, and return their ids."""
    names = [f"all {count}" for count in range(DELIVERED_BY_ALL)]
    names += [f"{number} {count}" for count in range(DELIVERED)]
    return [(await deliver(id=name, slug=name)).id for name in names]


async def check() -> Sequence[UUID]:
    """Check due monitors until none is due, and return their ids."""
    checked: list[UUID] = []
    while claimed := await claim_due(DUE_AT, CLAIMED_AT_ONCE):
        stored = await store(found(claimed, UP, DUE_AT), DUE_AT)
        assert sorted(stored) == sorted(ids_of(claimed)), "somebody else has checked what was claimed"
        checked += stored
    return checked


async def work(number: int, team_id: UUID) -> dict[str, Sequence[UUID]]:
    async with open_backends(read_settings(), tasks=()) as backends:
        with backends.activate():
            print("ready", flush=True)  # noqa: T201 - the test reads it
            await asyncio.to_thread(sys.stdin.readline)
            created, taken_in, *checked = await asyncio.gather(
                create(team_id), take_in(number), *(check() for _ in range(CHECKERS))
            )
            return {"created": created, "taken_in": taken_in, "checked": [*chain(*checked)]}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(work(int(sys.argv[1]), UUID(sys.argv[2]))), default=str))  # noqa: T201
