"""Run the service for long at a steady load, and see that nothing it holds keeps growing.

    python faults/soak.py --hours 1

Exits with 0 and the figures, or with 1 and what grew, was due and not done, or was logged as an error.
Figures are judged after the first ten minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import shutil
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("tests", "benchmarks")]

import asyncpg  # type: ignore[import-untyped]

from callers import KeyHolder
from checked_server import Answering
from cluster import LOCALES, SITE_TEAM, TEAM, WEBHOOK_SECRET, Cluster, judge_logs, running_cluster
from growing import Growth, find_growth, judge_checks
from journal import Journal
from processor_time import family, memory_mib
from publishers import Publisher
from replicas import Replicas

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

SETTLING_SECONDS = 600.0
SAMPLE_SECONDS = 10.0

MONITORS = 10_000
INTERVAL_SECONDS = 30
PUBLISHERS = 2
DELIVERIES_A_SECOND = 4.0
READERS = 2
READ_PAUSE_SECONDS = 0.1


def main() -> int:
    """Run, print, and return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hours", type=float, default=1.0, help="how long, the first ten minutes included")
    parser.add_argument("--monitors", type=int, default=MONITORS, help="how many, each checked every 30 s")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    print(f"Logs in {folder}", flush=True)
    journal = Journal(folder / "soak.log")
    room = {"PLANS": f"business={options.monitors}", "CHECKS_PER_TEAM": "200", "CHECKS_PER_HOST": "200"}
    with running_cluster(folder, "pseudo", **room) as cluster:
        growths = soak(cluster, journal, options)
    for growth in growths:
        print(growth)
    for sentence in journal.violations:
        print(f"- {sentence}")
    if journal.violations or any(growth.is_too_much for growth in growths):
        print(f"\nNot as it should be; logs in {folder}")
        return 1
    shutil.rmtree(folder)
    print("\nFlat")
    return 0


def soak(cluster: Cluster, journal: Journal, options: argparse.Namespace) -> list[Growth]:
    """Let everybody work, measure every few seconds, and return what became of each figure."""
    replicas = Replicas(cluster.replicas, journal)
    key_holder = KeyHolder(cluster, replicas)
    _, headers = key_holder.make_key(SITE_TEAM)
    _, editor = key_holder.make_key(TEAM, "articles:read", "articles:write")
    with running_pages() as url:
        create_monitors(replicas, headers, url, options.monitors)
        over = threading.Event()
        publishers = [
            Publisher(f"p{number}", replicas, WEBHOOK_SECRET, editor, LOCALES, Random(number))
            for number in range(PUBLISHERS)
        ]
        with ThreadPoolExecutor(PUBLISHERS + READERS) as threads:
            pause_seconds = PUBLISHERS / DELIVERIES_A_SECOND
            done = [threads.submit(one.publish, over, pause_seconds) for one in publishers]
            done += [threads.submit(read_on_and_on, replicas, headers, over) for _ in range(READERS)]
            try:
                samples, settled_at = [], datetime.now(UTC) + timedelta(seconds=SETTLING_SECONDS)
                for sample in measure(cluster, options.hours * 3600):
                    samples.append(sample)
                    journal.note(str(sample))
                stored_a_second = asyncio.run(measure_checks(cluster, settled_at))
            finally:
                over.set()
        for each in done:
            each.result()
    due_a_second = options.monitors / INTERVAL_SECONDS
    print(f"{stored_a_second:.1f} checks a second were stored of {due_a_second:.1f} that were due")
    for sentence in judge_checks(stored_a_second, due_a_second):
        journal.record_violation(sentence)
    judge_logs(cluster, journal)
    return find_growth(samples, SETTLING_SECONDS)


def create_monitors(replicas: Replicas, headers: dict[str, str], url: str, count: int) -> None:
    """Create the monitors, several at once."""

    def create(number: int) -> None:
        body = {"url": f"{url}/{number}", "interval_seconds": INTERVAL_SECONDS, "timeout_seconds": 10}
        replicas.insist("create_monitor", "201", headers=headers, json=body)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(create, range(count)))


def read_on_and_on(replicas: Replicas, headers: dict[str, str], over: threading.Event) -> None:
    """Read what people look at, until the run is over."""
    while not over.wait(READ_PAUSE_SECONDS):
        page = replicas.insist("list_monitors", "200", headers=headers, params={"limit": 50}).json()
        ids = {"monitor_id": page["monitors"][0]["id"]}
        replicas.insist("list_checks", "200", headers=headers, ids=ids)


def measure(cluster: Cluster, seconds: float) -> Iterator[tuple[float, dict[str, float]]]:
    """Yield the seconds since the beginning, and every figure by its name."""
    began = time.monotonic()
    while time.monotonic() < began + seconds:
        figures = {}
        for process in cluster.processes:
            figures[f"{process.name}: memory in MiB"] = memory_mib(process.pid)
            figures[f"{process.name}: open files"] = count_open_files(process.pid)
        figures |= asyncio.run(measure_database(cluster))
        yield time.monotonic() - began, figures
        time.sleep(SAMPLE_SECONDS)


def count_open_files(pid: int) -> float:
    """Count the files and sockets that a process and its children have open."""
    count = 0
    for child in family(pid):
        with suppress(OSError):  # it has just ended
            count += len(list(Path(f"/proc/{child}/fd").iterdir()))
    return count


async def measure_database(cluster: Cluster) -> dict[str, float]:
    """Count connections, and the bytes a row of each table takes, indexes included."""
    connection = await asyncpg.connect(cluster.database_url)
    try:
        connections = await connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        )
        tables = await connection.fetch(
            "SELECT coalesce(parent.relname, own.relname) AS name,"
            " sum(pg_total_relation_size(own.oid))::float8 AS bytes, sum(greatest(own.reltuples, 0)) AS rows"
            " FROM pg_class AS own"
            " LEFT JOIN pg_inherits ON inhrelid = own.oid"
            " LEFT JOIN pg_class AS parent ON parent.oid = inhparent"
            " WHERE own.relkind = 'r' AND own.relnamespace = 'public'::regnamespace GROUP BY 1"
        )
    finally:
        await connection.close()
    return {"database: connections": connections} | {
        f"{row['name']}: bytes a row": row["bytes"] / row["rows"] for row in tables if row["rows"] > 1000
    }


async def measure_checks(cluster: Cluster, since: datetime) -> float:
    """Return how many checks were stored a second up to now. Raises ValueError if `since` is yet to come."""
    seconds = (datetime.now(UTC) - since).total_seconds()
    if seconds <= 0:
        raise ValueError(f"nothing was measured after the first {SETTLING_SECONDS:.0f} s")
    connection = await asyncpg.connect(cluster.database_url)
    try:
        stored = await connection.fetchval("SELECT count(*) FROM checks WHERE checked_at >= $1", since)
    finally:
        await connection.close()
    return float(stored) / seconds


@contextmanager
def running_pages() -> Iterator[str]:
    """Serve pages in a process of their own until the context ends, and yield their address."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve_pages, args=(there,))
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}"
    finally:
        process.kill()
        process.join()


def _serve_pages(told: Connection) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0, backlog=4096)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


if __name__ == "__main__":
    sys.exit(main())
