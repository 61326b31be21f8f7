"""Rate limits: every counted request's answer announces them, and a refusal says how long to wait."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import httpx
import pytest
from starlette.requests import Request

from cast import Player, form_team
from monitoring.auth.limits import client_network, count_under
from monitoring.contract.problems import Problem
from monitoring.settings.value_types import RateLimitPolicy
from running_service import WEBHOOK_SECRET, RunningService, running_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitoring.contract.catalogue import Catalogue


@pytest.fixture(scope="module")
def tight_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(
        tmp_path_factory.mktemp("tight"),
        rate_limit_api="3/3600",
        rate_limit_token="20/3600",
        rate_limit_webhook_failures="2/3600",
    ) as running:
        yield running


def assert_is_too_many_requests(answer: httpx.Response, catalogue: Catalogue) -> None:
    assert answer.status_code == 429
    wait_seconds = answer.json()["retry_after_seconds"]
    refusal = catalogue.respond("rate_limited", values={"retry_after_seconds": wait_seconds})
    assert answer.json() == refusal.body
    assert 0 < wait_seconds <= 3600
    assert answer.headers["Retry-After"] == str(wait_seconds)
    assert f";r=0;t={wait_seconds}" in answer.headers["RateLimit"]


def test_a_key_after_the_one_that_refuses_counts_nothing(service: RunningService) -> None:
    async def count() -> int:
        request = Request({"type": "http", "headers": []})
        tight, owners = [(RateLimitPolicy("api", limit, 3600), str(uuid4())) for limit in (1, 9)]
        await count_under(request, tight, owners)
        with pytest.raises(Problem):
            await count_under(request, tight, owners)
        [allowance] = await count_under(request, owners)
        return allowance.remaining

    assert service.run(count()) == 9 - 2


class TestApiLimit:
    def test_a_key_has_its_own_limit_and_sees_it_shrink(
        self, tight_service: RunningService, catalogue: Catalogue
    ) -> None:
        team = form_team(tight_service)
        with Player(tight_service, team) as alice, Player(tight_service, team) as colleague:
            left = []
            for path in ("/api/monitors", "/api/monitors?limit=0", "/api/monitors/nothing"):
                answer = alice.get(path)
                assert answer.headers["RateLimit-Policy"] == '"api";q=3;w=3600'
                left.append(answer.headers["RateLimit"].split(";")[1])
            assert left == ["r=2", "r=1", "r=0"]
            assert_is_too_many_requests(alice.get("/api/monitors"), catalogue)
            assert colleague.get("/api/monitors").status_code == 200


class TestTokenLimit:
    def test_guessing_is_limited_before_the_secret_is_looked_at(
        self, tmp_path_factory: pytest.TempPathFactory, catalogue: Catalogue
    ) -> None:
        with running_service(tmp_path_factory.mktemp("guess"), rate_limit_token="5/3600") as service:
            url = f"{service.base_url}/api/oauth/token"
            guesses = [httpx.post(url, data={"client_id": "a", "client_secret": str(n)}) for n in range(6)]
            assert [guess.status_code for guess in guesses[:5]] == [401] * 5
            assert "RateLimit" in guesses[0].headers
            assert_is_too_many_requests(guesses[5], catalogue)

    def test_guesses_from_elsewhere_never_lock_a_keys_owner_out(
        self, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        with running_service(tmp_path_factory.mktemp("flood"), rate_limit_token="3/3600") as service:
            with Player(service, form_team(service)) as alice:
                credentials = {"client_id": alice.client_id, "client_secret": alice.client_secret}
            url = f"{service.base_url}/api/oauth/token"
            for address in ("127.0.0.2", "127.0.0.3"):
                with httpx.Client(transport=httpx.HTTPTransport(local_address=address)) as elsewhere:
                    wrong = credentials | {"client_secret": "x"}
                    guesses = [elsewhere.post(url, data=wrong) for _ in range(4)]
                assert [guess.status_code for guess in guesses] == [401, 401, 401, 429]
            answer = httpx.post(url, data=credentials)
            assert answer.status_code == 200
            assert ";r=1;" in answer.headers["RateLimit"]  # the owner asked twice


@pytest.mark.parametrize(
    ("address", "counted_as"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("::FFFF:cb00:7107", "203.0.113.7"),
        ("203.0.113.7:4711", "203.0.113.7:4711"),
        ("nonsense:", "nonsense:"),
    ],
)
def test_a_caller_is_counted_by_the_network_that_is_all_theirs(address: str, counted_as: str) -> None:
    assert client_network(Request({"type": "http", "client": (address, 1)})) == counted_as


class TestWebhookFailureLimit:
    def test_wrong_secrets_are_limited_and_the_right_one_never(
        self, tight_service: RunningService, catalogue: Catalogue
    ) -> None:
        url = f"{tight_service.base_url}/api/webhooks/publisher"
        ping = {"event": "test", "article": {"title": "x"}}
        wrong = [httpx.post(url, json=ping, headers={"X-Webhook-Secret": "wrong"}) for _ in range(3)]
        assert [answer.status_code for answer in wrong[:2]] == [401, 401]
        assert_is_too_many_requests(wrong[2], catalogue)
        right = httpx.post(url, json=ping, headers={"X-Webhook-Secret": WEBHOOK_SECRET})
        assert right.status_code == 202
