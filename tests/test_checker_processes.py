"""Tests two checkers as in production, one of which is killed, and what monitored servers receive."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict
from contextlib import contextmanager, suppress
from itertools import pairwise
from signal import SIGTERM
from typing import TYPE_CHECKING

import pytest

from checks.rounds import make_due
from monitoring.backends.assembly import open_backends
from monitoring.checks.claims import LEASE_MARGIN
from monitoring.monitors.models import Monitor
from running_command import is_alive, running_command
from service_process import Installation, wait_until
from temporary_backends import make_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MONITORS = 2000
INTERVAL_SECONDS = 30
TIMEOUTS_SECONDS = (1, 2)
ANSWER_SECONDS = 0.05
REFERENCE = "/reference"

# Long enough for a machine that runs all the other tests at the same time.
SLACK_SECONDS = 15


class LoggingSite:
    """A server that responds with a delay, to reveal overlapping checks, and records request times."""

    def __init__(self) -> None:
        self.asked_at: defaultdict[str, list[float]] = defaultdict(list)
        self.asked_at_once: set[str] = set()
        self.port = 0
        self._being_answered: set[str] = set()
        self._loop = asyncio.new_event_loop()

    def how_many_were_asked(self, times: int, since: float = 0.0) -> int:
        """Count the paths with at least `times` requests since `since`."""
        logs = list(self.asked_at.values())
        return sum(sum(moment > since for moment in log) >= times for log in logs)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
            if path in self._being_answered:
                self.asked_at_once.add(path)
            if path != REFERENCE:
                self._being_answered.add(path)
                self.asked_at[path].append(time.monotonic())
            await asyncio.sleep(ANSWER_SECONDS)
            self._being_answered.discard(path)
            writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
            await writer.drain()
        writer.close()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Serve in a thread until the block ends."""
        is_listening = threading.Event()

        async def serve() -> None:
            server = await asyncio.start_server(self._answer, "127.0.0.1", 0, backlog=1000)
            self.port = server.sockets[0].getsockname()[1]
            is_listening.set()

        self._loop.create_task(serve())
        thread = threading.Thread(target=self._loop.run_forever)
        thread.start()
        is_listening.wait()
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join()


async def make_monitors(folder: Path, site: LoggingSite) -> None:
    """Create monitors that are all due immediately, each with its own path."""
    async with open_backends(make_settings(folder)) as backends:
        with backends.activate():
            for timeout_seconds in TIMEOUTS_SECONDS:
                await make_due(
                    MONITORS // len(TIMEOUTS_SECONDS),
                    url=f"http://127.0.0.1:{site.port}/",
                    interval_seconds=INTERVAL_SECONDS,
                    timeout_seconds=timeout_seconds,
                )
            await backends.database.context.db().execute_query("UPDATE monitors SET url = url || id")


async def count_what_is_not_up(folder: Path) -> int:
    async with open_backends(make_settings(folder)) as backends:
        with backends.activate():
            return await Monitor.exclude(status="up").count()


@pytest.mark.long(seconds=65)
@pytest.mark.production("on SQLite one process checks")
def test_a_checker_that_is_killed_delays_its_checks_and_nobody_checks_twice(tmp_path: Path) -> None:
    installation, site = Installation(tmp_path), LoggingSite()
    installation.environment |= {
        "CHECKS_AT_ONCE": "200",
        "CHECKS_PER_TEAM": "200",
        "CHECKS_PER_HOST": "200",
        "ALLOWED_NETWORKS": "127.0.0.0/8",
    }
    installation.make_tables()
    with site.running():
        installation.environment["REFERENCE_URLS"] = f"http://127.0.0.1:{site.port}{REFERENCE}"
        asyncio.run(make_monitors(tmp_path, site))
        with (
            running_command(installation, "checker") as killed,
            running_command(installation, "checker", "--processes", "1") as survivor,
        ):
            wait_until(lambda: site.how_many_were_asked(1) == MONITORS)
            wait_until(lambda: site.how_many_were_asked(2) > MONITORS // 4)
            killed.kill()
            killed_at = time.monotonic()
            wait_until(lambda: site.how_many_were_asked(3) == MONITORS, timeout_seconds=120)
            wait_until(lambda: site.how_many_were_asked(1, since=killed_at) == MONITORS)
            survivor.signal(SIGTERM)
            assert survivor.wait() == 0
            assert survivor.lines == []
    assert asyncio.run(count_what_is_not_up(tmp_path)) == 0
    assert site.asked_at_once == set()
    longest_wait_seconds = max(
        later - earlier for log in site.asked_at.values() for earlier, later in pairwise(log)
    )
    lease_seconds = max(TIMEOUTS_SECONDS) + LEASE_MARGIN.total_seconds()
    assert longest_wait_seconds < lease_seconds + INTERVAL_SECONDS + SLACK_SECONDS


@pytest.mark.production("embedded, `serve` makes the checks")
class TestCommand:
    @pytest.mark.parametrize(
        ("environment", "sentence"),
        [
            ({"CHECKS_AT_ONCE": "0"}, "CHECKS_AT_ONCE is 0"),
            ({"CHECKS_AT_ONCE": "10", "REDIS_URL": ""}, "REDIS_URL is not set"),
        ],
    )
    def test_ends_with_a_sentence_when_it_could_not_check(
        self, tmp_path: Path, environment: dict[str, str], sentence: str
    ) -> None:
        with running_command(Installation(tmp_path), "checker", **environment) as checker:
            assert checker.wait() == 1
            (line,) = checker.lines
            assert line.startswith(sentence)

    def test_says_that_the_folder_for_temporary_files_takes_no_socket(self, tmp_path: Path) -> None:
        installation = Installation(tmp_path)
        installation.make_tables()
        folder = tmp_path / ("long" * 25)
        folder.mkdir()
        with running_command(
            installation, "checker", "--processes", "2", CHECKS_AT_ONCE="10", TMPDIR=str(folder)
        ) as checker:
            assert checker.wait() == 1
            *_, line = checker.lines
            assert line.startswith(f"No socket can be created in the folder for temporary files, {folder}: ")

    def test_starts_as_many_processes_as_it_is_told_and_stops_them_all(self, tmp_path: Path) -> None:
        installation = Installation(tmp_path)
        installation.make_tables()
        with running_command(installation, "checker", "--processes", "2", CHECKS_AT_ONCE="10") as checker:
            wait_until(lambda: len(checker.children) == 2)
            children = checker.children
            checker.signal(SIGTERM)
            assert checker.wait() == 0
            assert not any(map(is_alive, children))
