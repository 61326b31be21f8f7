"""Tests which files one request, one check and one page enter, from the socket to the database row.

The lists in `walks/` show what a reader must open to understand each of them. If another file is entered, its
list gets a new line, which reviewers see. To update the lists, run `WRITE_WALKS=1 .venv/bin/pytest
tests/test_walks.py`, and commit the changes.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import FrameType
from uuid import uuid4

import httpx
import pytest

import monitoring
from app.visitor import Visitor
from cast import Player, form_team
from monitoring.app.rendering import KEPT_SECONDS
from monitoring.auth.models import Team
from monitoring.monitors.models import CheckState
from running_service import WEBHOOK_SECRET, RunningService, running_service

HOUSE = f"{Path(monitoring.__file__).parent}/"
WALKS = Path(__file__).parent / "walks"
WRITES = "WRITE_WALKS" in os.environ
TIMES = 3
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
BESIDE = {"backends/repeating.py"}  # runs on a timer, independent of requests
SETTLING_SECONDS = 0.5  # after this time, work from an earlier request is done

pytestmark = pytest.mark.embedded("the service has one thread, which can be followed")


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Run a service that does nothing without a request."""
    folder = tmp_path_factory.mktemp("quiet")
    with running_service(folder, sweep_interval_seconds=3600, translator="none") as service:
        yield service


@pytest.fixture(scope="module")
def crew(quiet: RunningService) -> Team:
    return form_team(quiet)


@pytest.fixture(scope="module")
def alice(quiet: RunningService, crew: Team) -> Iterator[Player]:
    with Player(quiet, crew) as player:
        yield player


def compare(
    walk: str, service: RunningService, act: Callable[[], object], pause_seconds: float = SETTLING_SECONDS
) -> None:
    """Assert that an action enters exactly the files in the walk's list.

    The action is repeated several times, because code that runs next to it by chance does not run each time.
    """
    entered = set.intersection(*(follow(service, act, pause_seconds) for _ in range(TIMES))) - BESIDE
    file = WALKS / f"{walk}.txt"
    if WRITES:
        file.write_text("".join(f"{name}\n" for name in sorted(entered)))
    listed = set(file.read_text().split())
    assert sorted(entered - listed) == [], f"new on the way; if they belong there, see {Path(__file__).name}"
    assert sorted(listed - entered) == [], "listed, and no longer on the way"


def follow(service: RunningService, act: Callable[[], object], pause_seconds: float) -> set[str]:
    """Return this project's files that the service's thread enters during an action."""
    entered: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(HOUSE):
            entered.add(file.removeprefix(HOUSE))

    async def profile(note: Callable[[FrameType, str, object], None] | None) -> None:
        sys.setprofile(note)

    service.run(asyncio.sleep(pause_seconds))
    service.run(profile(note))
    try:
        act()
    finally:
        service.run(profile(None))
    return entered


def test_health(quiet: RunningService) -> None:
    compare("health", quiet, lambda: demand(200, httpx.get(f"{quiet.base_url}/health")))


def test_creating_reading_and_listing_monitors(quiet: RunningService, alice: Player) -> None:
    monitors = "/api/monitors"

    def create() -> httpx.Response:
        return demand(201, alice.post(monitors, json={"url": "https://example.com/"}))

    path = f"{monitors}/{create().json()['id']}"
    compare("create-a-monitor", quiet, create)
    compare("read-a-monitor", quiet, lambda: demand(200, alice.get(path)))
    compare("list-monitors", quiet, lambda: demand(200, alice.get(monitors)))


def test_delivering_an_article(quiet: RunningService) -> None:
    def deliver() -> None:
        article = {"id": str(uuid4()), "title": "Moon", "content": "It is round."}
        headers = {"X-Webhook-Secret": WEBHOOK_SECRET}
        url = f"{quiet.base_url}/api/webhooks/publisher"
        demand(202, httpx.post(url, headers=headers, json={"article": article}))

    deliver()
    compare("deliver-an-article", quiet, deliver)


def test_a_page_of_the_app(quiet: RunningService, crew: Team, alice: Player) -> None:
    demand(201, alice.post("/api/monitors", json={"url": "https://example.com/"}))
    with Visitor(quiet, crew) as visitor:
        demand(200, visitor.open("/monitors"))
        compare("page-of-monitors", quiet, lambda: demand(200, visitor.open("/monitors")), KEPT_SECONDS)


def test_one_check(tmp_path: Path) -> None:
    """Test one check, from the claim of a due monitor to the stored result."""
    checking = {"checks_at_once": 1, "allowed_networks": "127.0.0.0/8", "sweep_interval_seconds": 3600}
    with (
        site_that_is_up() as url,
        running_service(tmp_path, translator="none", **checking) as service,
        Player(service, form_team(service)) as alice,
    ):
        demand(201, alice.post("/api/monitors", json={"url": url}))
        service.run(until_none_is(last_checked_at=None))
        compare("one-check", service, lambda: service.run(check_again()))


async def check_again() -> None:
    now = datetime.now(UTC)
    await CheckState.all().update(due_at=LONG_AGO)
    await until_none_is(last_checked_at__lt=now)


def demand(status: int, response: httpx.Response) -> httpx.Response:
    assert response.status_code == status
    return response


async def until_none_is(**state: datetime | None) -> None:
    while await CheckState.filter(**state).exists():  # noqa: ASYNC110 - the checker has no event for strangers
        await asyncio.sleep(0.05)


@contextmanager
def site_that_is_up() -> Iterator[str]:
    """Serve an empty page."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
