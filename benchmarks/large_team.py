"""Measures the list of a team with 5,000 monitors: the time until it is first painted, and its size.

The monitors are a month old, and one in fifty was down within the last day.

PYTHONPATH=tests .venv/bin/python benchmarks/large_team.py
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from browser.chromium import DESKTOP, running_chromium, write_storage_state
from monitoring.backends.assembly import open_backends
from monitoring.backends.current import current_backends
from monitoring.backends.database import migrate
from monitoring.monitors.models import Monitor, StateChange
from open_pages import settings_for, sow
from postgres_and_redis import running_backends
from servers import running, service

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from playwright.sync_api import Page

    from monitoring.settings import Settings
    from servers import Server

MONITORS = 5000
LISTS = {
    "down first": "",
    "lowest uptime first": "?sort=uptime",
    "page 100": "?page=100",
    "by tag": "?group=tag",
    "compact": "?density=compact",
    "a search": "?q=4999",
}

MOMENTS = {"monitors": ("created_at", "status_changed_at"), "state_changes": ("changed_at",)}

IS_PAINTED = "() => performance.getEntriesByName('first-paint').length"

# Sizes are without compression.
READ_TIMING = """
() => {
  const [arrived] = performance.getEntriesByType("navigation");
  const [painted] = performance.getEntriesByName("first-paint");
  return [painted.startTime, arrived.responseEnd, arrived.decodedBodySize];
}
"""


async def sow_session(settings: Settings, *, are_new: bool) -> str:
    """Create the team, and return a session token."""
    async with open_backends(settings) as backends:
        with backends.activate():
            team = await sow("Large", MONITORS, 1)
            if not are_new:
                await age(team.monitor_ids)
            return team.tokens[0]


async def age(monitor_ids: Sequence[UUID]) -> None:
    """Make monitors a month old. One in fifty had an outage an hour ago."""
    connection = current_backends().database.context.db()
    for table, columns in MOMENTS.items():
        ages = ", ".join(f"{column} = {column} - interval '30 days'" for column in columns)
        await connection.execute_query(f"UPDATE {table} SET {ages}")  # noqa: S608 - names of our own
    began_at = datetime.now(UTC) - timedelta(hours=1)
    ended_at = began_at + timedelta(minutes=5)
    for monitor_id in monitor_ids[::50]:
        await StateChange.create(monitor_id=monitor_id, changed_at=began_at, state="down")
        await StateChange.create(monitor_id=monitor_id, changed_at=ended_at, state="up")
    await Monitor.filter(id__in=monitor_ids[::50]).update(status_changed_at=ended_at)


def measure(page: Page, server: Server, rounds: int) -> None:
    """Open each list `rounds` times, and print the medians."""
    for title, query in LISTS.items():
        timings, before = [], server.cpu_seconds()
        for _ in range(rounds):
            page.goto(f"http://127.0.0.1:{server.port}/app/monitors{query}")
            page.wait_for_function(IS_PAINTED)
            timings.append(page.evaluate(READ_TIMING))
        painted, answered, size = map(median, zip(*timings, strict=True))
        spent = (server.cpu_seconds() - before) / rounds
        print(
            f"{title}: painted after {painted:.0f} ms, answered after {answered:.0f} ms,"
            f" {spent * 1000:.0f} ms of CPU, {size / 1000:.0f} KB"
        )


def main() -> None:
    """Serve the team's lists, open them in Chromium, and print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--new", action="store_true", help="leave the monitors as new as they are")
    arguments = parser.parse_args()
    with running_backends() as backends, tempfile.TemporaryDirectory() as folder:
        settings = settings_for(f"{backends.postgres.create('large_team')}?sslmode=disable")
        asyncio.run(migrate(settings))
        token = asyncio.run(sow_session(settings, are_new=arguments.new))
        program = service(
            DATABASE_URL=settings.database_url.get_secret_value(), SESSION_COOKIE_SECURE="false"
        )
        program = replace(program.under(Path(sys.executable)), folder=Path(folder))
        with running(program) as server, running_chromium() as browser:
            options: dict[str, Any] = {"storage_state": write_storage_state(token)}
            page = browser.new_page(viewport=DESKTOP, **options)
            measure(page, server, arguments.rounds)


if __name__ == "__main__":
    main()
