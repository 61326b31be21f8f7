"""Measures the cost of open pages: 500 lists in separate sessions, which send the same requests as `live.js`.

.venv/bin/python benchmarks/open_pages.py --seconds 30
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from pydantic import SecretStr

from monitoring.app.visits import FOLLOWED_MEDIA_TYPE, GLANCE
from monitoring.audit.actors import COMMAND_LINE
from monitoring.auth.service import create_team
from monitoring.backends.assembly import open_backends
from monitoring.backends.database import migrate, transaction
from monitoring.checks.claims import claim_due
from monitoring.checks.probes.protocol import Finding
from monitoring.checks.requests import request_check
from monitoring.checks.storing import Checked, store
from monitoring.history.models import CheckResult
from monitoring.history.queries import insert_results
from monitoring.members.invitations import accept_invitation, invite
from monitoring.members.sessions import begin_session
from monitoring.monitors.health import Outcome
from monitoring.monitors.service import create_monitor
from monitoring.outbound.stopwatch import Timings
from monitoring.settings import Settings
from postgres_and_redis import running_backends
from servers import ENCRYPTION_KEY, SIGNING_KEY, running, service

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from servers import Server

PAGES = 500
MONITORS_A_TEAM = 20
CHECKS_SHOWN = 40
MINUTE = timedelta(minutes=1)
UP = Finding(Outcome.UP, status_code=200, timings=Timings(total_ms=95.6))
BETWEEN_SECONDS = 2.5
UNSEEN_SECONDS = 30.0
COMING_SECONDS = 15


class Case(NamedTuple):
    """How many teams have the pages open, and how often a check happens in each team (None for never).

    The case also determines whether the pages are in the background, where nobody looks at them.
    """

    title: str
    teams: int
    seconds_between_checks: float | None
    in_background: bool = False


CASES = (
    Case("nothing happens", 25, None),
    Case("each monitor is checked once a minute", 25, 3.0),
    Case("one team, a check a second", 1, 1.0),
    Case("in the background, each monitor is checked once a minute", 25, 3.0, in_background=True),
)


class Team(NamedTuple):
    """A team's monitors, and the session tokens of its members."""

    monitor_ids: Sequence[UUID]
    tokens: Sequence[str]


def settings_for(url: str) -> Settings:
    """Return the settings of this process, which creates the teams."""
    values: dict[str, Any] = {"encryption_keys": ENCRYPTION_KEY, "signing_keys": SIGNING_KEY}
    return Settings(database_url=SecretStr(url), **values)


async def sow(name: str, monitors: int, pages: int) -> Team:
    """Create a team with monitors that have been checked, and a session for each page."""
    team = await create_team(name, "free", monitors)
    given = [{"url": f"https://{each}.example.com/", "name": f"{each}"} for each in range(monitors)]
    ids = [(await create_monitor(team.id, each)).id for each in given]
    async with transaction() as connection:
        await insert_results(connection, [found for id_ in ids for found in find_checks(id_)])
    invited = await invite(team.id, f"{uuid4()}@example.com", "owner", by=COMMAND_LINE)
    user = await accept_invitation(invited.code, "Alice", "correct horse battery staple")
    await check(ids)
    return Team(ids, [await begin_session(user, "benchmark") for _ in range(pages)])


def find_checks(monitor_id: UUID) -> list[CheckResult]:
    """Return the results of a monitor's last checks."""
    now = datetime.now(UTC)
    moments = [now - each * MINUTE for each in range(1, CHECKS_SHOWN + 1)]
    return [
        CheckResult(monitor_id, moment, "up", 200, 90 + number, 1, 2, 3, 4, None, None)
        for number, moment in enumerate(moments)
    ]


async def check(monitor_ids: Sequence[UUID]) -> None:
    """Store checks of monitors, as a checker does, but without sending requests."""
    now = datetime.now(UTC)
    for monitor_id in monitor_ids:
        await request_check(monitor_id, now)
    while claims := [
        each for each in await claim_due(datetime.now(UTC), 1000) if each.monitor_id in monitor_ids
    ]:
        await store([Checked(each, datetime.now(UTC), UP) for each in claims], datetime.now(UTC))


async def keep_checking(team: Team, between_seconds: float) -> None:
    """Check one monitor at a time, forever."""
    await asyncio.sleep(random.uniform(0, between_seconds))  # noqa: S311 - teams know nothing of each other
    for monitor_id in cycle(team.monitor_ids):
        await asyncio.gather(check([monitor_id]), asyncio.sleep(between_seconds))


async def keep_in_background(port: int, token: str, answers: Counter[str]) -> None:
    """Keep a page open in the background, and count its responses."""
    await asyncio.sleep(random.uniform(0, UNSEEN_SECONDS))  # noqa: S311 - people leave when they like
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write((write_head(token) + f"Prefer: {GLANCE}\r\nConnection: close\r\n\r\n").encode())
        answered = await reader.read()
        answers[answered.split(b" ", 2)[1].decode()] += 1
        writer.close()
        await asyncio.sleep(UNSEEN_SECONDS)


def write_head(token: str) -> str:
    """Return the beginning of the request that both kinds of pages send."""
    head = f"GET /app/monitors HTTP/1.1\r\nHost: x\r\nCookie: session={token}\r\n"
    return f"{head}Accept: {FOLLOWED_MEDIA_TYPE}\r\n"


async def keep_open(port: int, token: str, answers: Counter[str]) -> None:
    """Keep a visible page open, and count its responses."""
    head = write_head(token) + "\r\n"
    await asyncio.sleep(random.uniform(0, COMING_SECONDS))  # noqa: S311 - people come when they like
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(head.encode())
            answered = await reader.readuntil(b"\r\n\r\n")
            answers[answered.split(b" ", 2)[1].decode()] += 1
            while size := int(await reader.readline() or b"0", 16):
                await reader.readexactly(size + 2)
                answers["lines" if size > 1 else "signs of life"] += 1
        finally:
            writer.close()
        await asyncio.sleep(BETWEEN_SECONDS)


async def measure(server: Server, case: Case, settings: Settings, seconds: float) -> None:
    """Open all pages, wait for each page's first responses, and then print the service's CPU time."""
    async with open_backends(settings) as backends:
        with backends.activate():
            teams = [
                await sow(f"Team {case.title} {number}", MONITORS_A_TEAM, PAGES // case.teams)
                for number in range(case.teams)
            ]
            answers = Counter[str]()
            keep = keep_in_background if case.in_background else keep_open
            pages = [keep(server.port, token, answers) for team in teams for token in team.tokens]
            checks = [
                keep_checking(team, case.seconds_between_checks)
                for team in teams
                if case.seconds_between_checks
            ]
            tasks = [asyncio.ensure_future(each) for each in (*pages, *checks)]
            coming_seconds = UNSEEN_SECONDS if case.in_background else COMING_SECONDS
            await asyncio.sleep(coming_seconds + 10)  # wait until the first pages are rendered
            answers.clear()
            before, began = server.cpu_seconds(), time.monotonic()
            done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
            spent, passed = server.cpu_seconds() - before, time.monotonic() - began
            for task in done:
                task.result()
            rates = ", ".join(f"{count / passed:.0f} {kind} a second" for kind, count in answers.items())
            print(
                f"{PAGES} pages of {case.teams} teams, {case.title}: {spent / passed:.1%} of a core; {rates}",
                flush=True,
            )
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


def main() -> None:
    """Measure each case on a separate service."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--case", type=int, choices=range(len(CASES)), help="this one alone")
    arguments = parser.parse_args()
    with running_backends() as backends, tempfile.TemporaryDirectory() as folder:
        url = f"{backends.postgres.create('open_pages')}?sslmode=disable"
        asyncio.run(migrate(settings_for(url)))
        program = service(DATABASE_URL=url, SESSION_COOKIE_SECURE="false", CONNECTIONS_PER_ADDRESS="1000")
        program = replace(program.under(Path(sys.executable)), folder=Path(folder))
        for case in CASES if arguments.case is None else [CASES[arguments.case]]:
            with running(program) as server:
                asyncio.run(measure(server, case, settings_for(url), arguments.seconds))


if __name__ == "__main__":
    main()
