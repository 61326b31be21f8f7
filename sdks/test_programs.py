"""The journeys and the examples, run against the service: each with a team and a key of its own."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from cast import Player, form_team
from generators import Sdk, all_sdks, environment
from mishaps import (
    CREATE_MONITOR,
    ISSUE_TOKEN,
    LIST_MONITORS,
    LOST,
    EveryFailure,
    Outcomes,
    answer_with_more_fields,
)
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


@pytest.mark.parametrize("sdk", SDKS, ids=lambda sdk: sdk.name)
class TestJourney:
    def test_a_monitor_lives_and_an_article_is_followed(
        self, sdk: Sdk, service: RunningService, alice: Player
    ) -> None:
        done = run(sdk, sdk.journey, alice, BASE_URL=service.base_url, WEBHOOK_SECRET=WEBHOOK_SECRET)
        assert done.returncode == 0, done.stderr

    def test_fields_that_answers_gain_later_harm_nobody(
        self, sdk: Sdk, service: RunningService, alice: Player
    ) -> None:
        with proxy(service.base_url, answer_with_more_fields) as base_url:
            done = run(sdk, sdk.journey, alice, BASE_URL=base_url, WEBHOOK_SECRET=WEBHOOK_SECRET)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("sdk", [sdk for sdk in SDKS if sdk.example], ids=lambda sdk: sdk.name)
class TestExample:
    def test_bears_every_failure_that_the_document_speaks_of(
        self, sdk: Sdk, service: RunningService, alice: Player
    ) -> None:
        outcomes = EveryFailure()
        with proxy(service.base_url, outcomes.answer) as base_url:
            done = run(sdk, sdk.example, alice, BASE_URL=base_url)
        assert done.returncode == 0, done.stderr
        assert outcomes.by_operation == {
            # At first, because that one was about to end, and because the second was refused.
            ISSUE_TOKEN: [200, 200, 200],
            CREATE_MONITOR: [LOST, 503, 201],
            LIST_MONITORS: [429, 401, 500, 200],
        }
        assert done.stdout.lower() == "pending shop.example.com https://shop.example.com/health\n"
        assert len(alice.get("/api/monitors").json()["monitors"]) == 1

    def test_asks_for_no_more_than_it_needs(self, sdk: Sdk, service: RunningService, alice: Player) -> None:
        outcomes = Outcomes()
        with proxy(service.base_url, outcomes.answer) as base_url:
            done = run(sdk, sdk.example, alice, BASE_URL=base_url)
        assert done.returncode == 0, done.stderr
        assert outcomes.by_operation == {ISSUE_TOKEN: [200], CREATE_MONITOR: [201], LIST_MONITORS: [200]}

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
