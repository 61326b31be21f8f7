"""Journeys, the guide's recipes and examples, run against the service, each with its own team and key."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from building import Sdk, environment
from cast import Player, form_team
from generators import all_sdks
from history.diary import make_result, write_down
from incidents.breakdowns import SENTENCE, break_down, resolve
from mishaps import (
    CREATE_MONITOR,
    ISSUE_TOKEN,
    LIST_INCIDENTS,
    LIST_MONITORS,
    LOST,
    EveryFailure,
    Outcomes,
    PagesOfTwo,
    answer_as_of_an_old_monitor,
    answer_with_more_fields,
)
from monitoring.monitors.models import Monitor
from monitors.conversations import create, path_of
from proxy import proxy
from running_service import WEBHOOK_SECRET, RunningService, running_service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from subprocess import CompletedProcess

SDKS = all_sdks()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("service")) as service:
        yield service


@pytest.fixture
def alice(service: RunningService) -> Iterator[Player]:
    with Player(service, form_team(service)) as alice:
        yield alice


def let_break(service: RunningService, player: Player) -> None:
    """Give a player's team a monitor that went down, recovered, and went down again."""
    monitor_id = create(player, name="Blog")["id"]

    async def fail() -> None:
        monitor = await Monitor.get(id=monitor_id)
        await break_down(monitor)
        await resolve(monitor)
        await break_down(monitor)
        now = datetime.now(UTC)
        recovered = make_result(monitor.id, now - timedelta(minutes=1))
        failed = make_result(monitor.id, now, "down", status_code=503, error="unexpected_status")
        await write_down([recovered, failed])

    service.run(fail())


@pytest.mark.parametrize("sdk", [sdk for sdk in SDKS if sdk.journey], ids=lambda sdk: sdk.name)
class TestJourney:
    def test_monitors_are_watched_incidents_told_and_an_article_is_followed(
        self, sdk: Sdk, service: RunningService, alice: Player
    ) -> None:
        let_break(service, alice)
        done = run(sdk, sdk.journey, alice, BASE_URL=service.base_url, WEBHOOK_SECRET=WEBHOOK_SECRET)
        assert done.returncode == 0, done.stderr

    def test_fields_that_answers_gain_later_harm_nobody(
        self, sdk: Sdk, service: RunningService, alice: Player
    ) -> None:
        let_break(service, alice)
        with proxy(service.base_url, answer_with_more_fields) as base_url:
            done = run(sdk, sdk.journey, alice, BASE_URL=base_url, WEBHOOK_SECRET=WEBHOOK_SECRET)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("sdk", [sdk for sdk in SDKS if sdk.pages], ids=lambda sdk: sdk.name)
def test_the_guides_recipe_reads_every_page(sdk: Sdk, service: RunningService, alice: Player) -> None:
    ids = [create(alice, name=f"Shop {number}")["id"] for number in range(5)]
    pages = PagesOfTwo()
    token = alice.headers["Authorization"].removeprefix("Bearer ")
    with proxy(service.base_url, pages.answer) as base_url:
        done = run(sdk, sdk.pages, alice, BASE_URL=base_url, TOKEN=token)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == [*reversed(ids)]
    assert pages.by_operation == {LIST_MONITORS: [200, 200, 200]}
    sdk.note(f"generated, {sdk.checked}, and run against the service")


@pytest.mark.parametrize("sdk", [sdk for sdk in SDKS if sdk.example], ids=lambda sdk: sdk.name)
class TestExample:
    def test_bears_every_failure_that_the_document_speaks_of(
        self, sdk: Sdk, service: RunningService, alice: Player
    ) -> None:
        outcomes = EveryFailure()
        with proxy(service.base_url, outcomes.answer) as base_url:
            done = run(sdk, sdk.example, alice, BASE_URL=base_url)
        assert done.returncode == 0, done.stderr
        (monitor,) = alice.get("/api/monitors").json()["monitors"]
        assert outcomes.by_operation == {
            # One at the start, one because the first was about to expire, one because the second was refused.
            ISSUE_TOKEN: [200, 200, 200],
            CREATE_MONITOR: [LOST, 503, 201],
            LIST_MONITORS: [429, 401, 500, 200],
            f"GET {path_of(monitor)}/uptime": [200],
            LIST_INCIDENTS: [200],
        }
        assert done.stdout.lower().splitlines() == [
            "pending shop.example.com https://shop.example.com/health",
            "uptime of 30 days: not known yet",
        ]

    def test_tells_how_long_its_monitor_was_up_and_what_is_down(
        self, sdk: Sdk, service: RunningService, alice: Player
    ) -> None:
        let_break(service, alice)
        with proxy(service.base_url, answer_as_of_an_old_monitor) as base_url:
            done = run(sdk, sdk.example, alice, BASE_URL=base_url)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-2:] == ["uptime of 30 days: 99.953%", f"down: {SENTENCE}"]

    def test_asks_for_no_more_than_it_needs(self, sdk: Sdk, service: RunningService, alice: Player) -> None:
        outcomes = Outcomes()
        with proxy(service.base_url, outcomes.answer) as base_url:
            done = run(sdk, sdk.example, alice, BASE_URL=base_url)
        assert done.returncode == 0, done.stderr
        (monitor,) = alice.get("/api/monitors").json()["monitors"]
        assert outcomes.by_operation == {
            ISSUE_TOKEN: [200],
            CREATE_MONITOR: [201],
            LIST_MONITORS: [200],
            f"GET {path_of(monitor)}/uptime": [200],
            LIST_INCIDENTS: [200],
        }

    def test_gives_up_at_once_when_its_key_is_refused(
        self, sdk: Sdk, service: RunningService, alice: Player
    ) -> None:
        outcomes = Outcomes()
        with proxy(service.base_url, outcomes.answer) as base_url:
            done = run(sdk, sdk.example, alice, BASE_URL=base_url, CLIENT_SECRET="mon_secret_wrong")
        assert done.returncode != 0
        assert outcomes.by_operation == {ISSUE_TOKEN: [401]}


def run(sdk: Sdk, command: tuple[str, ...] | None, player: Player, **variables: str) -> CompletedProcess[str]:
    """Run a program of the SDK with a player's key."""
    assert command
    key = {"CLIENT_ID": player.client_id, "CLIENT_SECRET": player.client_secret}
    return subprocess.run(
        command,
        cwd=sdk.folder,
        env=environment() | key | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
