"""Several processes of one installation: a decision about a key holds in all of them at once."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from cast import Player, form_team
from monitoring.auth.models import ApiKey
from monitoring.auth.service import revoke_key
from real_servers import running_redis
from running_service import RunningService, running_service
from service_process import Installation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


MONITORS = "/api/monitors"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., list[RunningService]]]:
    """Start two services on the same backends."""
    with ExitStack() as stack:

        def start_two(**changes: Any) -> list[RunningService]:
            return [stack.enter_context(running_service(tmp_path, **changes)) for _ in range(2)]

        yield start_two


def list_monitors(service: RunningService, player: Player) -> httpx.Response:
    """Ask one replica with the token that the player got from another."""
    headers = {"Authorization": player.headers["Authorization"]}
    return httpx.get(f"{service.base_url}{MONITORS}", headers=headers, timeout=30)


def is_revoked(answer: httpx.Response, service: RunningService) -> bool:
    expected = service.app.contract.catalogue.respond("api_key_invalid")
    return (answer.status_code, answer.json()) == (expected.status, expected.body)


def is_invalid(answer: httpx.Response, service: RunningService) -> bool:
    expected = service.app.contract.catalogue.respond("token_invalid")
    return (answer.status_code, answer.json()) == (expected.status, expected.body)


def revoke_token(service: RunningService, player: Player) -> None:
    """Let a player give up the token that everybody is asked with."""
    form = {"token": player.headers["Authorization"].removeprefix("Bearer ")}
    credentials = (player.client_id, player.client_secret)
    answer = httpx.post(f"{service.base_url}/api/oauth/revoke", data=form, auth=credentials, timeout=30)
    assert answer.status_code == 200


async def revoke_by_hand(client_id: str) -> None:
    await ApiKey.filter(client_id=client_id).update(revoked_at=datetime.now(UTC))


class TestRevokedKey:
    def test_is_refused_by_every_replica_at_the_next_request(
        self, start: Callable[..., list[RunningService]]
    ) -> None:
        one, other = start()
        with Player(one, form_team(one)) as alice:
            assert [list_monitors(service, alice).status_code for service in (one, other)] == [200, 200]
            one.run(revoke_key(alice.client_id))
            assert is_revoked(list_monitors(other, alice), other)
            assert is_revoked(list_monitors(one, alice), one)
            credentials = {"client_id": alice.client_id, "client_secret": alice.client_secret}
            assert httpx.post(f"{other.base_url}/api/oauth/token", data=credentials).status_code == 401

    def test_is_refused_by_all_when_an_operator_revokes_it_on_the_command_line(
        self, start: Callable[..., list[RunningService]], tmp_path: Path
    ) -> None:
        services = start()
        with Player(services[0], form_team(services[0])) as alice:
            assert [list_monitors(service, alice).status_code for service in services] == [200, 200]
            Installation(tmp_path).run("keys", "revoke", alice.client_id)
            assert all(is_revoked(list_monitors(service, alice), service) for service in services)

    @pytest.mark.production("only Redis can be away")
    def test_is_refused_by_all_while_redis_is_away_too(
        self, start: Callable[..., list[RunningService]]
    ) -> None:
        with running_redis() as redis_server:
            one, other = start(redis_url=redis_server.url)
            with Player(one, form_team(one)) as alice:
                redis_server.stop()
                assert [list_monitors(service, alice).status_code for service in (one, other)] == [200, 200]
                one.run(revoke_key(alice.client_id))
                assert is_revoked(list_monitors(other, alice), other)
                assert is_revoked(list_monitors(one, alice), one)

    def test_is_refused_although_it_was_revoked_by_hand(self, service: RunningService, alice: Player) -> None:
        assert list_monitors(service, alice).status_code == 200
        service.run(revoke_by_hand(alice.client_id))
        assert is_revoked(list_monitors(service, alice), service)


class TestRevokedToken:
    def test_is_refused_by_every_replica_at_the_next_request(
        self, start: Callable[..., list[RunningService]]
    ) -> None:
        services = start()
        with Player(services[0], form_team(services[0])) as alice:
            assert [list_monitors(service, alice).status_code for service in services] == [200, 200]
            revoke_token(services[0], alice)
            assert all(is_invalid(list_monitors(service, alice), service) for service in services)

    @pytest.mark.production("only Redis can be away")
    def test_is_refused_by_all_while_redis_is_away_too(
        self, start: Callable[..., list[RunningService]]
    ) -> None:
        with running_redis() as redis_server:
            services = start(redis_url=redis_server.url)
            with Player(services[0], form_team(services[0])) as alice:
                assert [list_monitors(service, alice).status_code for service in services] == [200, 200]
                redis_server.stop()
                revoke_token(services[0], alice)
                assert all(is_invalid(list_monitors(service, alice), service) for service in services)


@pytest.mark.production("only Redis counts for several processes")
class TestRateLimit:
    def test_of_a_key_is_for_all_replicas_together(self, start: Callable[..., list[RunningService]]) -> None:
        services = start(rate_limit_api="5/3600")
        with Player(services[0], form_team(services[0])) as alice:
            answers = [list_monitors(service, alice) for service in islice(cycle(services), 7)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
        left = [answer.headers["RateLimit"].split(";")[1] for answer in answers]
        assert left == ["r=4", "r=3", "r=2", "r=1", "r=0", "r=0", "r=0"]

    def test_of_an_addresss_guesses_is_for_all_replicas_together(
        self, start: Callable[..., list[RunningService]]
    ) -> None:
        guess = {"client_id": "mon_live_guessed", "client_secret": "wrong"}
        answers = [
            httpx.post(f"{service.base_url}/api/oauth/token", data=guess, timeout=30)
            for service in islice(cycle(start(rate_limit_token="5/3600")), 7)
        ]
        assert [answer.status_code for answer in answers] == [401] * 5 + [429] * 2
