"""Compares Uptime Kuma with the service, if a checkout exists.

docs/performance.md explains how to install it.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from checks_speed import checking_service, running_checked
from real_servers import find_free_port, wait_for_port
from rounds import Sample, Scenario, take_turns
from servers import BUILD, Program, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bench import Bench
    from servers import Server

# Uptime Kuma's cost per check falls as the number of checks per second rises. One second is its shortest
# interval, and it starts monitors two thirds of a second apart, so more than 100 monitors would take too
# long.
MONITORS = 100
INTERVAL_SECONDS = 1
TIMEOUT_SECONDS = 10
WINDOW_SECONDS = 2.0
START_TIMEOUT_SECONDS = 180.0

MAKE_USER = "INSERT INTO user (username, password) VALUES ('owner', '')"
CALL_NO_OTHER_HOST = "INSERT INTO setting (key, value) VALUES ('checkUpdate', 'false')"
MAKE_MONITOR = """
INSERT INTO monitor (user_id, type, name, url, interval, retry_interval, timeout)
VALUES (1, 'http', ?, ?, ?, ?, ?)
"""
COUNT_STARTED = "SELECT count(DISTINCT monitor_id) FROM heartbeat"
COUNT_CHECKS = "SELECT count(*), sum(status = 1) FROM heartbeat"


def measure_uptime_kuma(bench: Bench, folder: Path) -> list[Scenario]:
    """Measure one check over http. Uptime Kuma keeps checking while the service is measured."""
    with (
        running_checked() as checked,
        checking_service(bench, checked, "http") as check_all,
        _running_uptime_kuma(bench, folder, checked.url("http")) as (server, database),
    ):

        def run(name: str) -> Sample:
            return asyncio.run(check_all()) if name == "service" else _watch(server, database)

        samples = take_turns(["service", server.name], bench.effort.rounds, run)
    return [Scenario("check_uptime_kuma", "One check, http, beside Uptime Kuma", samples)]


def _watch(server: Server, database: Path) -> Sample:
    """Let Uptime Kuma check for a while, and count the checks that it stored."""
    began_at, checks, spent = time.perf_counter(), _count_checks(database), server.cpu_seconds()
    time.sleep(WINDOW_SECONDS)
    checks, spent = _count_checks(database) - checks, server.cpu_seconds() - spent
    elapsed = time.perf_counter() - began_at
    return Sample(application_us=spent / checks * 1e6, per_second=checks / elapsed)


def _count_checks(database: Path) -> int:
    stored, up = _ask(database, COUNT_CHECKS)[0]
    if up != stored:
        raise RuntimeError(f"Uptime Kuma found {stored - up} of {stored} not to be up")
    return stored


@contextmanager
def _running_uptime_kuma(bench: Bench, folder: Path, url: str) -> Iterator[tuple[Server, Path]]:
    """Start Uptime Kuma once to create its tables, and again with monitors.

    Yield the server and its database.
    """
    data, port = bench.make_folder(), find_free_port()
    database = data / "kuma.db"
    environment = {
        "NODE_ENV": "production",
        "DATA_DIR": f"{data}/",
        "UPTIME_KUMA_DB_TYPE": "sqlite",
        "UPTIME_KUMA_HOST": "127.0.0.1",
        "UPTIME_KUMA_PORT": str(port),
    }
    program = Program("Uptime Kuma", ("node", "server/server.js"), environment, folder)
    with running(program, listens=False):
        wait_for_port(port)  # it already listens while it migrates, and writes the key for its tokens last
        _wait_for(database, "SELECT count(*) FROM setting WHERE key = 'jwtSecret'", 1)
    _furnish(database, url)
    with running(program, listens=False) as server:
        _wait_for(database, COUNT_STARTED, MONITORS)
        yield server, database


def _furnish(database: Path, url: str) -> None:
    """Insert what Uptime Kuma's pages would store.

    All settings have their defaults, except for intervals and requests to other hosts.
    """
    monitor = (url, INTERVAL_SECONDS, INTERVAL_SECONDS, TIMEOUT_SECONDS)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(MAKE_USER)
        connection.execute(CALL_NO_OTHER_HOST)
        connection.executemany(MAKE_MONITOR, [(f"Shop {number}", *monitor) for number in range(MONITORS)])


def _wait_for(database: Path, question: str, count: int) -> None:
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        with suppress(sqlite3.OperationalError):  # the table does not exist yet
            if _ask(database, question) == [(count,)]:
                return
        time.sleep(0.2)
    raise RuntimeError(f"Uptime Kuma did not start; {BUILD}/logs/uptime-kuma.log may say why")


def _ask(database: Path, question: str) -> list[tuple[int, ...]]:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return connection.execute(question).fetchall()
