"""The cost of starting, and the memory of processes that do nothing."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from statistics import median
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import urlopen

from bench import wait_until_idle
from monitors_api import migrate, programs
from rounds import Sample, Scenario
from seeds import sow
from servers import running, service

if TYPE_CHECKING:
    from bench import Bench
    from servers import Server

NAMES = ("service", "FastAPI + SQLAlchemy", "Starlette + asyncpg", "stock Connexion + asyncpg")
STARTS = 5

# Other commands of the service, and how long each certainly takes to begin to wait for work.
COMMANDS = {
    "worker": ("worker",),
    "checker": ("checker",),
    "four workers that serve": ("serve", "--workers", "4"),
}
LOADING_SECONDS = 4.0


def measure_at_rest(bench: Bench) -> list[Scenario | str]:
    """Start every program several times in turn, until its first answer, and then read its memory."""
    postgres, redis = bench.backends.postgres, bench.backends.redis
    database = postgres.create("at_rest")
    migrate(f"{database}?sslmode=disable")
    asyncio.run(sow(database, teams=1))
    samples: dict[str, list[Sample]] = {name: [] for name in NAMES}
    memory_mib: dict[str, list[float]] = {name: [] for name in NAMES}
    for number in range(-1, STARTS):  # the first time fills the disk's caches
        for name in NAMES:
            program = programs()[name](database, redis.new_database())
            began_at = time.perf_counter()
            with running(program) as server:
                _ask(server)
                seconds, cpu_seconds = time.perf_counter() - began_at, server.cpu_seconds()
                if number >= 0:
                    sample = Sample(application_us=cpu_seconds * 1e6, median_ms=seconds * 1000)
                    samples[name].append(sample)
                    memory_mib[name].append(server.memory_mib())
    commands = _measure_commands(bench, f"{database}?sslmode=disable")
    postgres.drop_database(database)
    memory = ", ".join(f"{name} {sorted(taken)[STARTS // 2]:.0f} MiB" for name, taken in memory_mib.items())
    return [
        Scenario("start", "From start to the first answer", samples),
        f"At rest after the first answer (proportional set size): {memory}.",
        f"Other commands of the service, started and at rest: {commands}.",
    ]


def _measure_commands(bench: Bench, url: str) -> str:
    """Return the CPU of each command's start, and its memory when it waits for work."""
    told: list[str] = []
    for name, arguments in COMMANDS.items():
        settings = {"DATABASE_URL": url, "REDIS_URL": bench.backends.redis.new_database()}
        settings |= {"BLOG_STORAGE_URL": f"file://{bench.make_folder()}", "CHECKS_AT_ONCE": "100"}
        cpu_seconds: list[float] = []
        memory_mib: list[float] = []
        for _ in range(STARTS):
            with running(service(*arguments, **settings), listens=name.startswith("four")) as process:
                time.sleep(LOADING_SECONDS)
                wait_until_idle(process)
                cpu_seconds.append(process.cpu_seconds())
                memory_mib.append(process.memory_mib())
        told.append(f"{name} {median(cpu_seconds):.2f} s of CPU and {median(memory_mib):.0f} MiB")
    return ", ".join(told)


def _ask(server: Server) -> None:
    """Send a request without the token it needs: a refusal is an answer too."""
    with suppress(HTTPError):
        urlopen(f"http://127.0.0.1:{server.port}/api/monitors").close()
