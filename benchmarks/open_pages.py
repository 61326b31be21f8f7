"""What pages cost that people keep open: 500 of them, in one team and in fifty, while nothing happens.

They ask as `live.js` does: "held" with `Prefer: wait`, and as it did: "asked" every 2.5 seconds without it.

    .venv/bin/python benchmarks/open_pages.py --seconds 30
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from monitoring.audit.actors import COMMAND_LINE
from monitoring.auth.service import create_team
from monitoring.backends.assembly import open_backends
from monitoring.backends.database import migrate
from monitoring.members.invitations import accept_invitation, invite
from monitoring.members.sessions import begin_session
from monitoring.monitors.service import create_monitor
from monitoring.settings import Settings
from postgres_and_redis import running_backends
from servers import ENCRYPTION_KEY, SIGNING_KEY, running, service

if TYPE_CHECKING:
    from servers import Server

PAGES = 500
TEAMS = (1, 50)
MONITORS_A_TEAM = 20
BETWEEN_SECONDS = 2.5
WAIT_SECONDS = 25
ETAG = re.compile(rb"\r\netag: ([^\r]+)", re.IGNORECASE)
LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)


def settings_for(url: str) -> Settings:
    """Return the settings of this process, which makes the teams."""
    values: dict[str, Any] = {"encryption_keys": ENCRYPTION_KEY, "signing_keys": SIGNING_KEY}
    return Settings(database_url=SecretStr(url), **values)


async def sow(url: str, teams: int) -> list[str]:
    """Make teams with monitors, and a session for each page. Return the sessions' tokens."""
    settings = settings_for(url)
    tokens = []
    async with open_backends(settings) as backends:
        with backends.activate():
            for number in range(teams):
                team = await create_team(f"Team {teams}.{number}", "free", 1000)
                for each in range(MONITORS_A_TEAM):
                    await create_monitor(team.id, {"url": f"https://{each}.example.com/", "name": f"{each}"})
                email = f"{teams}.{number}@example.com"
                invited = await invite(team.id, email, "owner", by=COMMAND_LINE)
                user = await accept_invitation(invited.code, "Alice", "correct horse battery staple")
                tokens += [await begin_session(user, "benchmark") for _ in range(PAGES // teams)]
    return tokens


async def keep_open(port: int, token: str, until: float, *, is_held: bool) -> int:
    """Keep a page open. Return how many answers came."""
    answers, known = 0, b""
    prefer = f"Prefer: wait={WAIT_SECONDS}\r\n" if is_held else ""
    await asyncio.sleep(random.uniform(0, BETWEEN_SECONDS))  # noqa: S311 - people come when they like
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while time.monotonic() < until:
            began = time.monotonic()
            head = (
                f"GET /app/monitors HTTP/1.1\r\nHost: x\r\nCookie: session={token}\r\n{prefer}If-None-Match: "
            )
            writer.write(head.encode() + known + b"\r\n\r\n")
            answered = await reader.readuntil(b"\r\n\r\n")
            if length := LENGTH.search(answered):
                await reader.readexactly(int(length[1]))
            status = answered.split(b" ", 2)[1]
            if status not in (b"200", b"304"):
                raise SystemExit(answered.decode())
            known = ETAG.search(answered)[1]  # type: ignore[index]
            answers += 1
            await asyncio.sleep(max(0.0, began + BETWEEN_SECONDS - time.monotonic()))
    finally:
        writer.close()
    return answers


async def measure(server: Server, tokens: list[str], seconds: float, *, is_held: bool) -> None:
    """Open all pages, let each get its first answers, and print the CPU of the service from then on."""
    until = time.monotonic() + 3600
    pages = [asyncio.ensure_future(keep_open(server.port, token, until, is_held=is_held)) for token in tokens]
    await asyncio.sleep(12)  # the first pages are rendered
    before, began = server.cpu_seconds(), time.monotonic()
    done, _ = await asyncio.wait(pages, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    spent = server.cpu_seconds() - before
    for page in done:
        page.result()
    share = spent / (time.monotonic() - began)
    print(f"{'held' if is_held else 'asked'}: {share:.1%} of a core", flush=True)
    for page in pages:
        page.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.wait(pages)


def main() -> None:
    """Measure both ways of asking on one service."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    seconds = parser.parse_args().seconds
    with running_backends() as backends, tempfile.TemporaryDirectory() as folder:
        url = f"{backends.postgres.create('open_pages')}?sslmode=disable"
        asyncio.run(migrate(settings_for(url)))
        program = service(DATABASE_URL=url, SESSION_COOKIE_SECURE="false", CONNECTIONS_PER_ADDRESS="1000")
        program = replace(program.under(Path(sys.executable)), folder=Path(folder))
        for teams in TEAMS:
            tokens = asyncio.run(sow(url, teams))
            with running(program) as server:
                for is_held in (True, False):
                    print(f"{PAGES} pages of {teams} teams, ", end="")
                    asyncio.run(measure(server, tokens, seconds, is_held=is_held))


if __name__ == "__main__":
    main()
