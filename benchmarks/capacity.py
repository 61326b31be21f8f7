"""Measures how many monitors of all types one machine can check, how late checks begin, and what they cost.

    .venv/bin/python benchmarks/capacity.py --monitors 50000 --minutes 10
    .venv/bin/python benchmarks/capacity.py --monitors 2500 --minutes 2 --only https

Each monitor is checked every 60 s, and each heartbeat is pinged every 60 s. PostgreSQL, Redis, the targets
and the jobs that send pings run on this machine, too. `make bench` installs the required programs.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections import Counter, defaultdict
from contextlib import AsyncExitStack
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # the servers are those of the tests

import httpx
import orjson

from checks_speed import running_checked
from monitoring.checks.slots import next_slot
from monitors_api import migrate
from outbound.name_server import name_server
from postgres_and_redis import execute, fetch, running_backends
from processor_time import cpu_seconds
from seeds import sow
from servers import NO_LIMIT, running, service

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from checks_speed import Checked
    from postgres_and_redis import Backends
    from servers import Program, Server

INTERVAL_SECONDS = 60
TEAMS = 50
MIX = {"http": 75, "https": 5, "tcp": 10, "dns": 5, "heartbeat": 5}  # percent
TYPES = {"https": "http"}
APART = timedelta(milliseconds=10)  # the maximum difference between two clocks on one machine
WARM_UP_SECONDS = 2 * INTERVAL_SECONDS
NAME = "shop.example"
SCHEDULE = {"period_seconds": INTERVAL_SECONDS, "grace_seconds": INTERVAL_SECONDS}


class Span(NamedTuple):
    """A measured period: its start on the database's clock, its length, and the CPU time used."""

    since: datetime
    seconds: float
    cpu_seconds: Mapping[str, float]
    busy_seconds: float


async def main() -> None:
    """Run the measurement, and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--monitors", type=int, default=50_000)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long is measured, after two minutes")
    parser.add_argument("--checkers", type=int, default=2)
    parser.add_argument("--only", choices=MIX, help="one type instead of the mix")
    options = parser.parse_args()
    async with AsyncExitStack() as stack:
        backends = stack.enter_context(running_backends())
        checked = stack.enter_context(running_checked())
        names = await stack.enter_async_context(name_server())
        names.know(NAME, ["127.0.0.1"])
        database = backends.postgres.create("capacity")
        await furnish(database, checked, options.monitors, {options.only: 100} if options.only else MIX)
        checker, api = describe(backends, database, checked, names.address)
        checkers = [
            stack.enter_context(running(each, listens=False)) for each in [checker] * options.checkers
        ]
        server = stack.enter_context(running(api))
        clocks = {
            "checkers": [each.pid for each in checkers],
            "API, which takes pings": [server.pid],
            "PostgreSQL": [backends.postgres.process_id],
            "web server that is checked": [checked.pid],
        }
        pings = asyncio.create_task(ping_on_and_on(server, await list_heartbeats(database)))
        await asyncio.sleep(WARM_UP_SECONDS)
        span = await measure(database, clocks, options.minutes * 60)
        pings.cancel()
        await show(database, span, options.monitors)


async def furnish(database: str, checked: Checked, count: int, mix: Mapping[str, int]) -> None:
    """Insert monitors that become due within the first interval.

    The token of a heartbeat is the id of its monitor.
    """
    migrate(f"{database}?sslmode=disable")
    await sow(database, monitors_a_team=count // TEAMS, teams=TEAMS)
    await execute(
        database,
        "ALTER SYSTEM SET autovacuum = on",  # as in production
        "SELECT pg_reload_conf()",
        "CREATE TABLE checks_of_any_day PARTITION OF checks DEFAULT",
        "CREATE TABLE numbered AS SELECT id, row_number() OVER (ORDER BY id) % 100 AS number FROM monitors",
        "UPDATE monitors SET request_headers = '{}', required_keyword = NULL, interval_seconds = 60",
        *give_types(checked, mix),
        "UPDATE watches SET due_at = now() + random() * interval '60 seconds'",
        "INSERT INTO heartbeats (id, monitor_id, token_sha256, encrypted_token, counted_from)"
        " SELECT id, id, encode(sha256(convert_to(id::text, 'UTF8')), 'hex'), '', now()"
        " FROM monitors WHERE type = 'heartbeat'",
        "UPDATE watches SET due_at = now() + interval '120 seconds'"
        " WHERE monitor_id IN (SELECT monitor_id FROM heartbeats)",
        "UPDATE watches SET next_check_at = due_at",
        "VACUUM ANALYZE",
    )


def give_types(checked: Checked, mix: Mapping[str, int]) -> Iterator[str]:
    """Yield an SQL statement for each type in the mix, which gives some of the monitors this type."""
    urls = {
        "http": checked.url("http"),
        "https": checked.url("https"),
        "tcp": f"tcp://127.0.0.1:{checked.ports['http']}",
        "dns": f"dns://{NAME}",
        "heartbeat": "heartbeat://job",
    }
    until = 0
    for name, share in mix.items():
        since, until = until, until + share
        settings = orjson.dumps(SCHEDULE if name == "heartbeat" else {}).decode()
        yield (
            f"UPDATE monitors SET type = '{TYPES.get(name, name)}', url = '{urls[name]}',"  # noqa: S608
            f" settings = '{settings}' FROM numbered"
            f" WHERE numbered.id = monitors.id AND number >= {since} AND number < {until}"
        )


def describe(
    backends: Backends, database: str, checked: Checked, name_server: str
) -> tuple[Program, Program]:
    """Return the programs for a checker and for the API.

    By default, a checker limits the load on a single host.
    """
    settings = {
        "DATABASE_URL": f"{database}?sslmode=disable",
        "REDIS_URL": backends.redis.new_database(),
        "ALLOWED_NETWORKS": "127.0.0.1/32",
        "CA_FILE": str(checked.ca_file),
        "REFERENCE_URLS": checked.url("http"),
        "DNS_SERVERS": name_server,
        "RATE_LIMIT_PINGS": NO_LIMIT,
    }
    at_once = dict.fromkeys(("CHECKS_AT_ONCE", "CHECKS_PER_TEAM", "CHECKS_PER_HOST"), "200")
    return service("checker", **settings, **at_once), service("serve", **settings)


async def list_heartbeats(database: str) -> list[str]:
    """Return the tokens of all heartbeats."""
    return [str(row["monitor_id"]) for row in await fetch(database, "SELECT monitor_id FROM heartbeats")]


async def ping_on_and_on(server: Server, tokens: Sequence[str]) -> None:
    """Ping each heartbeat once per interval. Raises HTTPStatusError if a response is not 2xx."""
    if not tokens:
        return
    began_at = time.monotonic()
    async with (
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", timeout=30) as client,
        asyncio.TaskGroup() as pings,
    ):
        for number in count():
            at = began_at + number * INTERVAL_SECONDS / len(tokens)
            await asyncio.sleep(max(0.0, at - time.monotonic()))
            pings.create_task(ping(client, tokens[number % len(tokens)]))


async def ping(client: httpx.AsyncClient, token: str) -> None:
    """Send a ping. Raises HTTPStatusError if the response is not 2xx."""
    (await client.get(f"/ping/{token}")).raise_for_status()


async def measure(database: str, clocks: Mapping[str, Sequence[int]], seconds: float) -> Span:
    """Wait for `seconds`, and return the CPU time used, including the time used by other programs."""

    def read() -> tuple[dict[str, float], float]:
        spent = {name: sum(map(cpu_seconds, pids)) for name, pids in clocks.items()}
        return {**spent, "name server and jobs": time.process_time()}, read_busy_seconds()

    [row] = await fetch(database, "SELECT now() AS now")
    before, busy_before = read()
    began_at = time.monotonic()
    await asyncio.sleep(seconds)
    elapsed, (after, busy_after) = time.monotonic() - began_at, read()
    spent = {name: after[name] - before[name] for name in after}
    return Span(row["now"], elapsed, spent, busy_after - busy_before)


def read_busy_seconds() -> float:
    """Return the CPU seconds that all programs on this machine have used (proc_stat(5))."""
    user, nice, system, _idle, _waiting, *interrupts = map(
        int, Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    )
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


async def show(database: str, span: Span, monitors: int) -> None:
    """Print a table of results by type, and a table of CPU time."""
    until = span.since + timedelta(seconds=span.seconds)
    rows = await fetch(
        database,
        "SELECT monitor_id, type, url, outcome, checked_at FROM checks"
        " JOIN monitors ON monitors.id = monitor_id WHERE checked_at >= $1 AND checked_at < $2",
        *(span.since, until),
    )
    expected = monitors * span.seconds / INTERVAL_SECONDS
    print(f"\n{len(rows):,} checks and pings of {expected:,.0f} in {span.seconds:.0f} s")
    print("\n| type | checks | not up | late: median | 99 of 100 | most |\n|---|---|---|---|---|---|")
    late: dict[str, list[float]] = defaultdict(list)
    not_up: Counter[str] = Counter()
    for row in rows:
        name = "https" if row["url"].startswith("https") else row["type"]
        not_up[name] += row["outcome"] != "up"
        late[name].append(
            0.0 if name == "heartbeat" else measure_lateness(row["monitor_id"], row["checked_at"])
        )
    for name, seconds in late.items():
        shown = " | ".join(f"{value:.2f} s" for value in spread(seconds)) if name != "heartbeat" else "| |"
        print(f"| {name} | {len(seconds):,} | {not_up[name]:,} | {shown} |")
    asked = [each for name, seconds in late.items() if name != "heartbeat" for each in seconds]
    if asked:
        shown = " | ".join(f"{value:.2f} s" for value in spread(asked))
        print(f"| all that are asked | {len(asked):,} | | {shown} |")
    print("\n| CPU | share of a core | microseconds a check |\n|---|---|---|")
    for name, spent in [*span.cpu_seconds.items(), ("all of these", sum(span.cpu_seconds.values()))]:
        print(f"| {name} | {spent / span.seconds:.0%} | {spent / max(len(rows), 1) * 1e6:,.0f} |")
    cores = os.cpu_count() or 1
    print(f"| everything on this machine | {span.busy_seconds / span.seconds:.0%} of {cores} cores | |")


def measure_lateness(monitor_id: UUID, checked_at: datetime) -> float:
    """Return how many seconds after its planned time a check began.

    The database's clock determines when a check is due, but the checker's clock when the check began. The
    check may therefore appear to begin early.
    """
    next_at = next_slot(monitor_id, INTERVAL_SECONDS, checked_at + APART)
    return (checked_at - next_at).total_seconds() + INTERVAL_SECONDS


def spread(seconds: Sequence[float]) -> tuple[float, float, float]:
    """Return the median, the 99th percentile and the maximum."""
    ordered = sorted(seconds)
    return ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100], ordered[-1]


if __name__ == "__main__":
    asyncio.run(main())
