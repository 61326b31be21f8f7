"""Tests three processes that write to one database concurrently, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import busy_process
from busy_process import CREATED, DELIVERED, DELIVERED_BY_ALL, DUE_AT
from checks.rounds import make_due
from monitoring.articles.models import Article, Translation
from monitoring.auth.service import create_team
from monitoring.backends.assembly import open_backends
from monitoring.history.queries import list_results
from monitoring.monitors.models import Monitor
from service_process import TIMEOUT_SECONDS, Installation
from temporary_backends import make_settings

PROCESSES, DUE = 3, 300
LOCALES = ("es", "pt", "fr", "it", "ca")


async def furnish(folder: Path) -> tuple[str, list[str]]:
    """Create due monitors, and a team whose limit equals what the processes create.

    Return the ids of both.
    """
    async with open_backends(make_settings(folder), tasks=()) as backends:
        with backends.activate():
            team = await create_team("Alice's", "business", PROCESSES * CREATED)
            due = await make_due(DUE, since=DUE_AT)
            return str(team.id), [str(monitor.id) for monitor in due]


def work_at_once(installation: Installation, team_id: str) -> tuple[list[dict[str, list[str]]], list[str]]:
    """Start the work of all processes when the last one is ready, and return their results and errors."""
    script = Path(busy_process.__file__)
    environment = installation.environment | {"PYTHONPATH": str(script.parent), "LOCALES": ",".join(LOCALES)}
    processes = [
        subprocess.Popen(
            [sys.executable, str(script), str(number), team_id],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    try:
        for process in processes:
            assert process.stdout
            process.stdout.readline()
        for process in processes:
            assert process.stdin
            process.stdin.write("begin\n")
            process.stdin.flush()
        said = [process.communicate(timeout=TIMEOUT_SECONDS) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    complaints = [complaint for _, complaint in said if complaint]
    return [json.loads(done) for done, complaint in said if not complaint], complaints


async def read_what_is_stored(folder: Path, team_id: str) -> dict[str, object]:
    async with open_backends(make_settings(folder), tasks=()) as backends:
        with backends.activate():
            created = await Monitor.filter(team_id=team_id).values_list("id", flat=True)
            due = await Monitor.exclude(team_id=team_id)
            checks = [await list_results(monitor.id, limit=10) for monitor in due]
            return {
                "created": {str(monitor_id) for monitor_id in created},
                "checks of each": {len(results) for results in checks},
                "up": await Monitor.filter(status="up").count(),
                "articles": {
                    str(article_id) for article_id in await Article.all().values_list("id", flat=True)
                },
                "translations": await Translation.all().count(),
            }


def test_three_processes_at_once_lose_nothing_and_do_nothing_twice(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.make_tables()
    team_id, due = asyncio.run(furnish(tmp_path))
    done, complaints = work_at_once(installation, team_id)
    assert complaints == []
    created, taken_in, checked = (
        [id_ for each in done for id_ in each[name]] for name in ("created", "taken_in", "checked")
    )
    assert len(set(created)) == PROCESSES * CREATED
    assert len(set(taken_in)) == PROCESSES * DELIVERED + DELIVERED_BY_ALL
    assert sorted(checked) == sorted(due)
    assert asyncio.run(read_what_is_stored(tmp_path, team_id)) == {
        "created": set(created),
        "checks of each": {1},
        "up": DUE,
        "articles": set(taken_in),
        "translations": len(set(taken_in)) * len(LOCALES),
    }
