"""Tests for every operation that a key of live or test mode never reaches data of the other mode."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from cast import Player, form_readers
from fuzzing import create_the_documents_things
from monitoring.auth.sandboxes import open_sandbox
from monitoring.auth.scopes import SCOPES
from promises import DOCUMENT, EXAMPLE_IDS, JSON, OPERATIONS, judge
from provocations import NOBODYS_ID, Ask, bear, good_ask
from running_service import running_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitoring.contract.document import Operation
    from promises import Answer
    from running_service import RunningService

WITH_A_KEY = [each for each in OPERATIONS.values() if {"bearerAuth": []} in each.definition["security"]]
ABOUT_ARTICLES = [each for each in WITH_A_KEY if "Articles" in each.definition["tags"]]
OF_A_WORLD = [each for each in WITH_A_KEY if each not in ABOUT_ARTICLES]
BY_KEY = [each for each in OF_A_WORLD if each.path.endswith("/by-key/{key}")]
OF_ONE_THING = [each for each in OF_A_WORLD if "{" in each.path and each not in BY_KEY]
LISTS = [each for each in OF_A_WORLD if each.method == "get" and each not in OF_ONE_THING]


class Worlds(NamedTuple):
    """A service in which one mode has the resources of the document's examples, and the other has none."""

    service: RunningService
    owner: Player
    stranger: Player
    strangers_mode: str

    def ask(self, asking: Ask, player: Player) -> Answer:
        return asking.of(self.service, EXAMPLE_IDS | {"alice": player.headers["Authorization"]})


@pytest.fixture(scope="module", params=["live", "test"], ids="a {} key asks".format)
def worlds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    with running_service(tmp_path_factory.mktemp(request.param)) as service:
        team = form_readers(service)
        sandbox = service.run(open_sandbox(team.id))
        with Player(service, team, SCOPES) as live, Player(service, sandbox, SCOPES) as test:
            owner, stranger = (test, live) if request.param == "live" else (live, test)
            service.run(create_the_documents_things(owner.team_id))
            yield Worlds(service, owner, stranger, request.param)


def name_of(operation: Operation) -> str:
    return operation.operation_id


def sentences_of_404(operation: Operation) -> list[Any]:
    examples = operation.responses["404"]["content"][JSON]["examples"]
    return [DOCUMENT.follow(example)["value"] for example in examples.values()]


@pytest.mark.parametrize("operation", OF_ONE_THING, ids=name_of)
def test_the_id_of_the_other_world_is_one_that_nobody_has(worlds: Worlds, operation: Operation) -> None:
    answer = worlds.ask(good_ask(operation), worlds.stranger)
    judge(answer, operation.responses)
    assert answer.headers["monitoring-mode"] == worlds.strangers_mode
    assert answer.status == 404
    assert answer.json in sentences_of_404(operation)
    if operation.method == "get":
        assert worlds.ask(good_ask(operation), worlds.owner).status == 200


@pytest.mark.parametrize("operation", BY_KEY, ids=name_of)
def test_a_key_names_a_thing_of_ones_own_world(worlds: Worlds, operation: Operation) -> None:
    worlds.ask(good_ask(operation), worlds.owner)
    answer = worlds.ask(good_ask(operation), worlds.stranger)
    assert answer.status == 201
    made = Ask("DELETE", answer.headers["location"], good_ask(operation).headers)
    assert worlds.ask(made, worlds.owner).status == 404
    assert worlds.ask(made, worlds.stranger).status == 204


@pytest.mark.parametrize("operation", LISTS, ids=name_of)
def test_a_list_has_nothing_of_the_other_world(worlds: Worlds, operation: Operation) -> None:
    assert not any(worlds.ask(good_ask(operation), worlds.stranger).json.values())
    assert any(worlds.ask(good_ask(operation), worlds.owner).json.values())


@pytest.mark.parametrize("operation", ABOUT_ARTICLES, ids=name_of)
def test_articles_are_of_no_world_and_only_for_live_keys(worlds: Worlds, operation: Operation) -> None:
    asker = worlds.stranger if worlds.strangers_mode == "test" else worlds.owner
    answer = worlds.ask(bear(operation, "alice"), asker)
    assert (answer.status, answer.headers["monitoring-mode"]) == (403, "test")


def test_an_id_in_a_body_is_not_found_either(worlds: Worlds) -> None:
    window = json.dumps({"duration_seconds": 600, "monitor_ids": [NOBODYS_ID]}).encode()
    asking = good_ask(OPERATIONS["create_maintenance_window"], body=window)
    assert worlds.ask(asking, worlds.stranger).status == 422
    assert worlds.ask(asking, worlds.owner).status == 201


def test_a_token_of_the_other_world_is_not_active(worlds: Worlds) -> None:
    credentials = {"client_id": worlds.stranger.client_id, "client_secret": worlds.stranger.client_secret}
    foreign = worlds.owner.fetch_token()
    answer = worlds.stranger.post("/api/oauth/introspect", data=credentials | {"token": foreign})
    assert answer.json() == {"active": False}
