"""Measures the cost of starting, and the memory of idle processes."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from urllib.error import HTTPError
from urllib.request import urlopen

from bench import Bench, wait_until_idle
from monitors_api import migrate, programs
from rounds import Sample, Scenario, take_turns
from seeds import sow
from servers import Server, running, service
from targets import FASTAPI, SERVICE, STARLETTE

NAMES = (SERVICE, FASTAPI, STARLETTE)
STARTS = 5

# Other commands of the service, and an upper bound on the time until each begins to wait for work.
COMMANDS = {
    "worker": ("worker",),
    "checker": ("checker",),
    "four workers that serve": ("serve", "--workers", "4"),
}
LOADING_SECONDS = 4.0


def measure_at_rest(bench: Bench) -> list[Scenario]:
    """Start every program several times in turn, wait for its first response, and read its memory."""
    postgres, redis = bench.backends.postgres, bench.backends.redis
    database = postgres.create("at_rest")
    migrate(f"{database}?sslmode=disable")
    asyncio.run(sow(database, teams=1))

    def start(name: str) -> Sample:
        began_at = time.perf_counter()
        with running(programs()[name](database, redis.new_database())) as server:
            _ask(server)
            seconds = time.perf_counter() - began_at
            return _sample_of(server, median_ms=seconds * 1000)

    scenarios = [
        Scenario("start", "From start to the first answer", take_turns(NAMES, STARTS, start)),
        _measure_commands(bench, f"{database}?sslmode=disable"),
    ]
    postgres.drop_database(database)
    return scenarios


def _measure_commands(bench: Bench, url: str) -> Scenario:
    """Measure the start of each command, and its memory while it waits for work."""
    settings = {
        "DATABASE_URL": url,
        "REDIS_URL": bench.backends.redis.new_database(),
        "BLOG_STORAGE_URL": f"file://{bench.make_folder()}",
        "CHECKS_AT_ONCE": "100",
    }

    def start(name: str) -> Sample:
        with running(service(*COMMANDS[name], **settings), listens=name.startswith("four")) as process:
            time.sleep(LOADING_SECONDS)
            wait_until_idle(process)
            return _sample_of(process)

    return Scenario(
        "start_commands", "From start to waiting for work", take_turns(list(COMMANDS), STARTS, start)
    )


def _sample_of(server: Server, median_ms: float = 0.0) -> Sample:
    cpu_us = server.cpu_seconds() * 1e6
    return Sample(application_us=cpu_us, median_ms=median_ms, memory_mib=server.memory_mib())


def _ask(server: Server) -> None:
    """Send a request without the required token. A refusal is a response, too."""
    with suppress(HTTPError):
        urlopen(f"http://127.0.0.1:{server.port}/api/monitors").close()
