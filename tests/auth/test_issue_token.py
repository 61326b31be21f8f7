"""POST /api/oauth/token exchanges credentials for a bearer token, and is no oracle."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest
import requests
from authlib.integrations.httpx_client import OAuth2Client
from oauthlib.oauth2 import BackendApplicationClient
from requests_oauthlib import OAuth2Session

from monitoring.auth.service import revoke_key

if TYPE_CHECKING:
    import httpx

    from cast import Player
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

PATH = "/api/oauth/token"


def basic(client_id: str, client_secret: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{client_id}:{client_secret}".encode()).decode()}


def credentials_of(player: Player) -> dict[str, str]:
    return {"client_id": player.client_id, "client_secret": player.client_secret}


class TestIssueToken:
    def test_the_seeds_own_client_sends_no_grant_type(self, alice: Player, mallory: httpx.Client) -> None:
        answer = mallory.post(PATH, data=credentials_of(alice))
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "no-store"
        token = answer.json()
        assert (token["token_type"], token["expires_in"]) == ("Bearer", 86_400)
        assert token["scope"] == "monitors:read monitors:write"

    def test_http_basic_needs_no_body_at_all(self, alice: Player, mallory: httpx.Client) -> None:
        assert mallory.post(PATH, headers=basic(alice.client_id, alice.client_secret)).status_code == 200

    def test_parameters_nobody_knows_are_ignored(self, alice: Player, mallory: httpx.Client) -> None:
        form = credentials_of(alice) | {"audience": "x", "resource": "y"}
        assert mallory.post(f"{PATH}?foo=bar", data=form).status_code == 200

    def test_form_and_basic_together_are_refused(
        self, alice: Player, mallory: httpx.Client, catalogue: Catalogue
    ) -> None:
        headers = basic(alice.client_id, alice.client_secret)
        answer = mallory.post(PATH, data=credentials_of(alice), headers=headers)
        assert answer.json() == catalogue.respond("oauth_two_authentications").body
        assert answer.status_code == 400

    def test_a_client_id_repeated_beside_basic_is_tolerated(
        self, alice: Player, mallory: httpx.Client
    ) -> None:
        headers = basic(alice.client_id, alice.client_secret)
        answer = mallory.post(PATH, data={"client_id": alice.client_id}, headers=headers)
        assert answer.status_code == 200

    def test_another_grant_type_is_unsupported(
        self, alice: Player, mallory: httpx.Client, catalogue: Catalogue
    ) -> None:
        answer = mallory.post(PATH, data=credentials_of(alice) | {"grant_type": "password"})
        assert answer.json() == catalogue.respond("oauth_unsupported_grant_type").body

    def test_scope_narrows_and_never_broadens(
        self, alice: Player, bob: Player, mallory: httpx.Client, catalogue: Catalogue
    ) -> None:
        narrowed = mallory.post(PATH, data=credentials_of(alice) | {"scope": "monitors:read"})
        assert narrowed.json()["scope"] == "monitors:read"
        for scope in ("monitors:write", "monitors:read monitors:write", "everything"):
            broader = mallory.post(PATH, data=credentials_of(bob) | {"scope": scope})
            assert broader.json() == catalogue.respond("oauth_invalid_scope").body

    def test_unknown_wrong_missing_and_revoked_credentials_get_one_answer(
        self, alice: Player, mallory: httpx.Client, service: RunningService, catalogue: Catalogue
    ) -> None:
        answers = [
            mallory.post(PATH, data=form)
            for form in (
                {},
                {"client_id": alice.client_id},
                {"client_secret": alice.client_secret},
                credentials_of(alice) | {"client_secret": "mon_secret_wrong"},
                credentials_of(alice) | {"client_id": "mon_live_unknown"},
                credentials_of(alice) | {"client_id": "x" * 128},
            )
        ]
        answers += [
            mallory.post(PATH, headers={"Authorization": header})
            for header in ("Basic", "Basic !", "Basic AAAA", "Basic /w==", "Basic JTAwOng=", "Bearer x")
        ]
        service.run(revoke_key(alice.client_id))
        answers.append(mallory.post(PATH, data=credentials_of(alice)))
        for answer in answers:
            assert answer.status_code == 401
            assert answer.json() == catalogue.respond("oauth_invalid_client").body
            assert answer.headers["WWW-Authenticate"] == 'Basic realm="monitoring"'
            assert answer.headers["Cache-Control"] == "no-store"

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (b"client_id=a&client_id=b", "client_id"),
            (b"client_id=" + b"a" * 129, "client_id"),
            (b"client_id=%ff", "form"),
        ],
        ids=["repeated", "too long", "not UTF-8"],
    )
    def test_a_form_that_cannot_be_read_is_an_oauth_error(
        self, mallory: httpx.Client, body: bytes, words: str
    ) -> None:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = mallory.post(PATH, content=body, headers=headers)
        assert answer.status_code == 400
        assert answer.json()["error"] == "invalid_request"
        assert words in answer.json()["error_description"]


class TestOAuthClients:
    """Unmodified OAuth clients from the registries, each with its default way to authenticate."""

    def test_authlib_gets_a_token(self, alice: Player) -> None:
        client = OAuth2Client(alice.client_id, alice.client_secret)
        token = client.fetch_token(f"{alice.base_url}{PATH}")
        assert token["token_type"] == "Bearer"
        assert client.get(f"{alice.base_url}/api/monitors").status_code == 200

    def test_requests_oauthlib_gets_a_token(self, alice: Player, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")  # loopback has no TLS
        session = OAuth2Session(client=BackendApplicationClient(client_id=alice.client_id))
        session.fetch_token(f"{alice.base_url}{PATH}", client_secret=alice.client_secret)
        assert session.get(f"{alice.base_url}/api/monitors").status_code == 200

    def test_requests_with_basic_auth_gets_a_token(self, alice: Player) -> None:
        answer = requests.post(
            f"{alice.base_url}{PATH}",
            auth=(alice.client_id, alice.client_secret),
            data={"grant_type": "client_credentials"},
            timeout=30,
        )
        assert answer.json()["expires_in"] == 86_400

    def test_the_metadata_lead_to_the_token_endpoint(self, mallory: httpx.Client) -> None:
        metadata = mallory.get("/.well-known/oauth-authorization-server").json()
        assert metadata["token_endpoint"] == f"{metadata['issuer']}{PATH}"
        assert set(metadata["token_endpoint_auth_methods_supported"]) == {
            "client_secret_basic",
            "client_secret_post",
        }
