"""POST /api/oauth/introspect and /api/oauth/revoke: what is told of a token, and how it is given up."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import jwt
import pytest
from authlib.integrations.httpx_client import OAuth2Client

from cast import Player, form_team
from monitoring.auth.models import ApiKey, RevokedToken, Team
from monitoring.auth.service import revoke_key
from monitoring.auth.signing_keys import Algorithm, generate_signing_key
from monitoring.auth.tokens import LIFETIME_SECONDS, sign_token
from monitoring.auth.upkeep import delete_expired_revocations
from running_service import WEBHOOK_SECRET, RunningService, running_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from monitoring.contract.catalogue import Catalogue

INTROSPECT, REVOKE = "/api/oauth/introspect", "/api/oauth/revoke"
MONITORS = "/api/monitors"
INACTIVE = {"active": False}


@pytest.fixture
def other_key(service: RunningService, alice: Player) -> Iterator[Player]:
    """Another key of Alice's team."""
    team = service.run(find_team_of(alice))
    with Player(service, team, ["monitors:read"]) as player:
        yield player


async def find_team_of(player: Player) -> Team:
    return await Team.get(id=player.team_id)


async def narrow_key(player: Player) -> None:
    await ApiKey.filter(client_id=player.client_id).update(scopes=["monitors:read"])


async def count_revoked(**wanted: str) -> int:
    return await RevokedToken.filter(**wanted).count()


def token_of(player: Player) -> str:
    return player.headers["Authorization"].removeprefix("Bearer ")


def ask(player: Player, path: str, token: str, **form: str) -> httpx.Response:
    """Ask with a player's credentials, and no bearer token."""
    credentials = {"client_id": player.client_id, "client_secret": player.client_secret}
    return player.post(path, data={"token": token, **credentials, **form}, headers={"Authorization": ""})


def introspect(player: Player, token: str) -> Any:
    answer = ask(player, INTROSPECT, token)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.json()


def revoke(player: Player, token: str) -> None:
    answer = ask(player, REVOKE, token)
    assert (answer.status_code, answer.content) == (200, b"")


def sign(service: RunningService, player: Player, now_seconds: float) -> str:
    return sign_token(service.settings, player.client_id, ["monitors:read"], int(now_seconds))


class TestIntrospectToken:
    def test_an_active_token_is_described_as_it_describes_itself(self, alice: Player) -> None:
        token = alice.fetch_token(scope="monitors:read")
        claims = jwt.decode(token, options={"verify_signature": False})
        assert introspect(alice, token) == claims | {"active": True, "token_type": "Bearer"}

    def test_any_key_of_the_team_may_ask(self, alice: Player, other_key: Player) -> None:
        assert introspect(other_key, token_of(alice))["client_id"] == alice.client_id
        assert introspect(alice, token_of(other_key))["scope"] == "monitors:read"

    def test_the_scope_is_what_the_key_has_now(self, alice: Player, service: RunningService) -> None:
        service.run(narrow_key(alice))
        assert introspect(alice, token_of(alice))["scope"] == "monitors:read"

    def test_of_another_teams_token_nothing_is_told(self, alice: Player, charlie: Player) -> None:
        assert introspect(charlie, token_of(alice)) == INACTIVE

    @pytest.mark.parametrize("token", ["x", "a.b.c", "é", "mon_live_a", "." * 4096])
    def test_what_is_no_token_is_not_active(self, alice: Player, token: str) -> None:
        assert introspect(alice, token) == INACTIVE

    def test_a_token_is_active_until_it_ends(self, alice: Player, service: RunningService) -> None:
        now = time.time()
        assert introspect(alice, sign(service, alice, now - LIFETIME_SECONDS + 300))["active"] is True
        assert introspect(alice, sign(service, alice, now - LIFETIME_SECONDS)) == INACTIVE

    def test_a_token_whose_key_is_revoked_is_not_active(
        self, alice: Player, other_key: Player, service: RunningService
    ) -> None:
        service.run(revoke_key(other_key.client_id))
        assert introspect(alice, token_of(other_key)) == INACTIVE

    def test_a_hint_is_ignored(self, alice: Player) -> None:
        answer = ask(alice, INTROSPECT, token_of(alice), token_type_hint="refresh_token")
        assert answer.json()["active"] is True


class TestRevokeToken:
    def test_the_token_is_refused_and_all_others_are_not(
        self, alice: Player, service: RunningService, catalogue: Catalogue
    ) -> None:
        revoked, kept = token_of(alice), alice.fetch_token()
        assert alice.get(MONITORS).status_code == 200
        revoke(alice, revoked)
        refused = alice.get(MONITORS)
        assert (refused.status_code, refused.json()) == (401, catalogue.respond("token_invalid").body)
        assert introspect(alice, revoked) == INACTIVE
        assert alice.get(MONITORS, headers={"Authorization": f"Bearer {kept}"}).status_code == 200
        assert introspect(alice, alice.fetch_token())["active"] is True
        assert service.run(count_revoked()) >= 1

    def test_the_webhook_refuses_it_beside_a_good_secret(self, alice: Player) -> None:
        delivery = {"event": "test", "article": {"title": "A test"}}
        headers = {"X-Webhook-Secret": WEBHOOK_SECRET}
        assert alice.post("/api/webhooks/publisher", json=delivery, headers=headers).status_code == 202
        revoke(alice, token_of(alice))
        assert alice.post("/api/webhooks/publisher", json=delivery, headers=headers).status_code == 401

    def test_twice_is_once(self, alice: Player, service: RunningService) -> None:
        token = token_of(alice)
        revoke(alice, token)
        revoke(alice, token)
        token_id = jwt.decode(token, options={"verify_signature": False})["jti"]
        assert service.run(count_revoked(token_id=token_id)) == 1

    @pytest.mark.parametrize("token", ["x", "a.b.c", "é"])
    def test_what_is_no_token_is_as_good_as_revoked(self, alice: Player, token: str) -> None:
        revoke(alice, token)

    def test_a_token_that_has_ended_is_as_good_as_revoked(
        self, alice: Player, charlie: Player, service: RunningService
    ) -> None:
        ended = sign(service, alice, time.time() - LIFETIME_SECONDS - 60)
        before = service.run(count_revoked())
        revoke(alice, ended)
        revoke(charlie, ended)
        assert service.run(count_revoked()) == before

    def test_a_token_is_its_own_clients_to_revoke(
        self, alice: Player, other_key: Player, charlie: Player, catalogue: Catalogue
    ) -> None:
        for player in (other_key, charlie):
            answer = ask(player, REVOKE, token_of(alice))
            assert (answer.status_code, answer.json()) == (
                400,
                catalogue.respond("oauth_another_clients_token").body,
            )
        assert alice.get(MONITORS).status_code == 200

    def test_forgotten_is_what_has_ended_for_an_hour(self, alice: Player, service: RunningService) -> None:
        token = token_of(alice)
        claims = jwt.decode(token, options={"verify_signature": False})
        revoke(alice, token)
        end = datetime.fromtimestamp(claims["exp"], UTC)
        for now, count in ((end + timedelta(minutes=59), 1), (end + timedelta(hours=1), 0)):
            service.run(delete_expired_revocations(now))
            assert service.run(count_revoked(token_id=claims["jti"])) == count


@pytest.mark.parametrize("path", [INTROSPECT, REVOKE])
class TestClientAuthentication:
    def test_wrong_unknown_missing_and_revoked_credentials_get_one_answer(
        self, path: str, alice: Player, mallory: httpx.Client, service: RunningService, catalogue: Catalogue
    ) -> None:
        token = {"token": token_of(alice)}
        credentials = {"client_id": alice.client_id, "client_secret": alice.client_secret}
        answers = [
            mallory.post(path, data=token | form)
            for form in (
                {},
                credentials | {"client_secret": "mon_secret_wrong"},
                credentials | {"client_id": "mon_live_unknown"},
            )
        ]
        answers.append(
            mallory.post(path, data=token, headers={"Authorization": alice.headers["Authorization"]})
        )
        service.run(revoke_key(alice.client_id))
        answers.append(mallory.post(path, data=token | credentials))
        refusal = catalogue.respond("oauth_invalid_client")
        for answer in answers:
            assert (answer.status_code, answer.json()) == (401, refusal.body)
            assert answer.headers["WWW-Authenticate"] == 'Basic realm="monitoring"'

    def test_http_basic_does_it_too(self, path: str, alice: Player, mallory: httpx.Client) -> None:
        credentials = (alice.client_id, alice.client_secret)
        answer = mallory.post(path, data={"token": token_of(alice)}, auth=credentials)
        assert answer.status_code == 200

    @pytest.mark.parametrize("body", [b"", b"token=", b"client_id=a", b"token=a&token=b", b"token=%ff"])
    def test_a_form_without_one_token_is_an_oauth_error(
        self, path: str, mallory: httpx.Client, body: bytes
    ) -> None:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = mallory.post(path, content=body, headers=headers)
        assert answer.status_code == 400
        assert answer.json()["error"] == "invalid_request"

    def test_guesses_are_counted_with_those_at_the_token_endpoint(self, path: str, tmp_path: Any) -> None:
        with (
            running_service(tmp_path, rate_limit_token="3/3600") as limited,
            Player(limited, form_team(limited)) as player,
        ):
            statuses = [ask(player, path, token, client_secret="wrong").status_code for token in "abc"]
            assert statuses == [401, 401, 429]


class TestOAuthClients:
    """A client of the registry, unmodified."""

    def test_authlib_introspects_and_revokes(self, alice: Player) -> None:
        client = OAuth2Client(alice.client_id, alice.client_secret)
        token = client.fetch_token(f"{alice.base_url}/api/oauth/token")["access_token"]
        asked = client.introspect_token(f"{alice.base_url}{INTROSPECT}", token)
        assert asked.json()["active"] is True
        assert client.revoke_token(f"{alice.base_url}{REVOKE}", token).status_code == 200
        assert client.introspect_token(f"{alice.base_url}{INTROSPECT}", token).json() == INACTIVE


class TestJwks:
    def test_the_metadata_lead_to_every_endpoint(self, mallory: httpx.Client) -> None:
        metadata = mallory.get("/.well-known/oauth-authorization-server").json()
        issuer = metadata["issuer"]
        assert metadata["jwks_uri"] == f"{issuer}/.well-known/jwks.json"
        assert metadata["introspection_endpoint"] == f"{issuer}{INTROSPECT}"
        assert metadata["revocation_endpoint"] == f"{issuer}{REVOKE}"

    def test_the_keys_may_be_kept_for_minutes(self, mallory: httpx.Client) -> None:
        answer = mallory.get("/.well-known/jwks.json")
        assert answer.headers["Cache-Control"] == "public, max-age=300"

    def test_there_are_none_of_a_secret(self, mallory: httpx.Client) -> None:
        assert mallory.get("/.well-known/jwks.json").json() == {"keys": []}

    def test_a_key_is_published_before_it_signs(self, tmp_path: Any, service: RunningService) -> None:
        keys = [generate_signing_key(algorithm) for algorithm in Algorithm]
        secret = service.settings.signing_keys[0].get_secret_value()
        with (
            running_service(tmp_path, signing_keys=",".join([secret, *keys])) as running,
            Player(running, form_team(running)) as player,
        ):
            assert jwt.get_unverified_header(token_of(player))["alg"] == "HS256"
            published = player.get("/.well-known/jwks.json").json()["keys"]
        assert [key["alg"] for key in published] == list(Algorithm)
