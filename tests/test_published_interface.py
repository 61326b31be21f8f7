"""Tests the published API description, row by row, in its own words.

These sentences are binding, so this file repeats them. All other tests refer to them by name.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import httpx
import jwt
import pytest

from cast import Player, form_team
from monitoring.auth.credentials import CLIENT_ID_PREFIX
from monitoring.auth.service import revoke_key
from monitoring.backends.current import current_backends
from monitoring.backends.errors import DatabaseUnavailable
from running_service import SIGNING_KEY, WEBHOOK_SECRET, running_service

if TYPE_CHECKING:
    from pathlib import Path

    from running_service import RunningService

ARTICLE: dict[str, Any] = {"article": {"title": "How to choose running shoes"}}


def post_webhook(service: RunningService, body: Any = ARTICLE, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.post(f"{service.base_url}/api/webhooks/publisher", json=body, headers=named, timeout=30)


async def read_every_row() -> str:
    """Return the complete contents of the database: every column of every table."""
    apps = current_backends().database.context.apps
    assert apps
    return repr([await model.all().values() for model in apps.get_models_iterable()])


class TestClientCredentials:
    """2. Client credentials (created in the app under Settings, API Keys)."""

    def test_client_id_starts_with_a_fixed_live_key_prefix_that_ends_in_live(self, alice: Player) -> None:
        assert CLIENT_ID_PREFIX.endswith("_live_")
        assert alice.client_id.startswith(CLIENT_ID_PREFIX)
        suffix = alice.client_id.removeprefix(CLIENT_ID_PREFIX)
        assert suffix.replace("-", "").replace("_", "").isalnum()

    def test_client_secret_is_shown_only_when_the_key_is_created(
        self, alice: Player, service: RunningService
    ) -> None:
        stored = service.run(read_every_row())
        assert alice.client_id in stored
        assert alice.client_secret not in stored


class TestInboundArticlePayload:
    """2. Inbound article payload (JSON object)."""

    def test_article_is_an_object_and_required(self, service: RunningService) -> None:
        assert post_webhook(service, {}, X_Webhook_Secret=WEBHOOK_SECRET).status_code == 400
        assert post_webhook(service, {"article": "text"}, X_Webhook_Secret=WEBHOOK_SECRET).status_code == 400

    @pytest.mark.parametrize(
        "field",
        [
            {"main_image": {"url": "https://cdn.example.com/a.jpg"}},
            {"website": {"id": "web_1"}},
            {"published_at": "2026-11-20T09:00:00Z"},
            {"timestamp": "2026-11-20T09:00:05Z"},
        ],
        ids=["main_image", "website", "published_at", "timestamp"],
    )
    def test_field_is_not_required(self, service: RunningService, field: dict[str, Any]) -> None:
        assert post_webhook(service, ARTICLE | field, X_Webhook_Secret=WEBHOOK_SECRET).status_code == 202

    @pytest.mark.parametrize("field", ["main_image", "website", "published_at", "timestamp"])
    def test_field_of_another_type_is_a_validation_error(self, service: RunningService, field: str) -> None:
        answer = post_webhook(service, ARTICLE | {field: 17}, X_Webhook_Secret=WEBHOOK_SECRET)
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(f"{field}: ")


class TestToken:
    """4.1 POST /api/oauth/token."""

    def test_exchange_client_credentials_for_a_bearer_token(self, alice: Player) -> None:
        form = {"client_id": alice.client_id, "client_secret": alice.client_secret}
        answer = httpx.post(f"{alice.base_url}/api/oauth/token", data=form)
        assert answer.status_code == 200
        assert answer.json()["access_token"]

    def test_bad_credentials_give_401_with_an_oauth_error_body(self, alice: Player) -> None:
        form = {"client_id": alice.client_id, "client_secret": "wrong"}
        answer = httpx.post(f"{alice.base_url}/api/oauth/token", data=form)
        assert answer.status_code == 401
        assert answer.json()["error"] == "invalid_client"
        assert isinstance(answer.json()["error_description"], str)


class TestWebhook:
    """4.2 POST /api/webhooks/publisher."""

    def test_202_article_accepted_translation_queued(self, service: RunningService) -> None:
        answer = post_webhook(service, X_Webhook_Secret=WEBHOOK_SECRET)
        assert answer.status_code == 202
        state = httpx.get(
            f"{service.base_url}{answer.headers['Location']}", headers={"X-Webhook-Secret": WEBHOOK_SECRET}
        )
        assert [row["locale"] for row in state.json()["translations"]] == answer.json()["locales"]

    def test_400_validation_error(self, service: RunningService) -> None:
        answer = post_webhook(service, {"article": None}, X_Webhook_Secret=WEBHOOK_SECRET)
        assert answer.status_code == 400

    def test_401_missing_or_invalid_x_webhook_secret(self, service: RunningService) -> None:
        assert post_webhook(service).status_code == 401
        assert post_webhook(service, X_Webhook_Secret="wrong").status_code == 401

    @pytest.mark.parametrize("missing", ["webhook_secrets", "blog_storage_url"])
    def test_503_webhook_secret_or_blog_storage_not_configured(self, tmp_path: Path, missing: str) -> None:
        with running_service(tmp_path, **{missing: None}) as unconfigured:
            assert post_webhook(unconfigured, X_Webhook_Secret=WEBHOOK_SECRET).status_code == 503


class TestOtherEndpoints:
    """4.3 Other endpoints referenced."""

    def test_post_api_monitors_creates_a_monitor(self, alice: Player) -> None:
        assert alice.post("/api/monitors", json={"url": "https://shop.example.com/"}).status_code == 201

    def test_get_api_monitors_is_called_with_a_bearer_token(self, alice: Player) -> None:
        assert alice.get("/api/monitors").status_code == 200


class TestMessages:
    """7. Errors: messages. The body is an object with one string field `error`."""

    def test_authorization_header_missing_or_invalid_401_no_bearer_header(
        self, mallory: httpx.Client
    ) -> None:
        answer = mallory.get("/api/monitors")
        assert (answer.status_code, answer.json()) == (
            401,
            {"error": "Authorization header missing or invalid"},
        )

    def test_invalid_or_expired_token_401_token_expired(self, alice: Player) -> None:
        claims = jwt.decode(alice.headers["Authorization"][7:], options={"verify_signature": False})
        kid = jwt.get_unverified_header(alice.headers["Authorization"][7:])["kid"]
        expired = claims | {"iat": time.time() - 86_402, "exp": time.time() - 2}
        token = jwt.encode(expired, SIGNING_KEY, "HS256", headers={"kid": kid})
        answer = alice.get("/api/monitors", headers={"Authorization": f"Bearer {token}"})
        assert (answer.status_code, answer.json()) == (401, {"error": "Invalid or expired token"})

    def test_invalid_or_expired_token_401_token_tampered_with(self, alice: Player) -> None:
        answer = alice.get("/api/monitors", headers={"Authorization": alice.headers["Authorization"][:-8]})
        assert (answer.status_code, answer.json()) == (401, {"error": "Invalid or expired token"})

    def test_invalid_api_key_401_the_key_that_generated_the_token_was_revoked(
        self, alice: Player, service: RunningService
    ) -> None:
        service.run(revoke_key(alice.client_id))
        answer = alice.get("/api/monitors")
        assert (answer.status_code, answer.json()) == (401, {"error": "Invalid API key"})

    @pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
    def test_monitor_not_found_404_no_monitor_with_this_id_in_the_callers_team(
        self, alice: Player, charlie: Player, method: str
    ) -> None:
        monitor = alice.post("/api/monitors", json={"url": "https://shop.example.com/"}).json()
        body = {"paused": True} if method == "PATCH" else None
        answer = charlie.request(method, f"/api/monitors/{monitor['id']}", json=body)
        assert (answer.status_code, answer.json()) == (404, {"error": "Monitor not found"})

    @pytest.mark.parametrize("monitor_id", ["01a1fd49-fd88-7373-b21b-a4436c5c2b7e", "17", "no-id-at-all"])
    def test_monitor_not_found_404_for_an_id_that_does_not_exist(
        self, alice: Player, monitor_id: str
    ) -> None:
        answer = alice.get(f"/api/monitors/{monitor_id}")
        assert (answer.status_code, answer.json()) == (404, {"error": "Monitor not found"})

    def test_your_plan_allows_a_maximum_of_n_monitors_403_beyond_the_plan_cap(
        self, service: RunningService
    ) -> None:
        with Player(service, form_team(service, max_monitors=1)) as player:
            assert player.post("/api/monitors", json={"url": "https://shop.example.com/"}).status_code == 201
            answer = player.post("/api/monitors", json={"url": "https://shop.example.com/"})
        expected = {"error": "Your plan allows a maximum of 1 monitors"}
        assert (answer.status_code, answer.json()) == (403, expected)

    def test_too_many_requests_429_body_has_retry_after_seconds(self, tmp_path: Path) -> None:
        with (
            running_service(tmp_path, rate_limit_api="1/60") as limited,
            Player(limited, form_team(limited)) as player,
        ):
            player.get("/api/monitors")
            answer = player.get("/api/monitors")
        assert (answer.status_code, answer.json()["error"]) == (429, "Too many requests")
        assert isinstance(answer.json()["retry_after_seconds"], int)

    @pytest.mark.traceback_expected("the service is broken on purpose")
    def test_internal_server_error_500_transient_server_error(
        self, alice: Player, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr("monitoring.auth.security.verify_token", fail)
        answer = alice.get("/api/monitors")
        assert (answer.status_code, answer.json()) == (500, {"error": "Internal server error"})


class TestStatusCodes:
    """7. Errors: status codes; 429 and 500 are told by their messages above."""

    def test_400_missing_or_invalid_fields(self, alice: Player) -> None:
        answer = alice.post("/api/monitors", json={"url": "ftp://shop.example.com/"})
        assert answer.status_code == 400
        assert set(answer.json()) == {"error"}

    def test_401_missing_invalid_or_expired_token(self, mallory: httpx.Client) -> None:
        for token in ("", "Bearer x.y.z"):
            answer = mallory.get("/api/monitors", headers={"Authorization": token})
            assert (answer.status_code, set(answer.json())) == (401, {"error"})
            assert answer.headers["WWW-Authenticate"].startswith("Bearer ")

    def test_403_valid_token_but_insufficient_permissions(self, bob: Player) -> None:
        assert bob.post("/api/monitors", json={"url": "https://shop.example.com/"}).status_code == 403

    def test_404_resource_not_found(self, mallory: httpx.Client) -> None:
        answer = mallory.get("/api/nothing")
        assert (answer.status_code, set(answer.json())) == (404, {"error"})

    def test_503_an_upstream_dependency_is_unavailable(
        self, alice: Player, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def fail(*_: object) -> None:
            raise DatabaseUnavailable("it rests")

        monkeypatch.setattr("monitoring.auth.security.find_living_key", fail)
        answer = alice.get("/api/monitors")
        assert (answer.status_code, set(answer.json())) == (503, {"error"})
        assert int(answer.headers["Retry-After"]) > 0


class TestAuthentication:
    """5. Authentication: rules."""

    def test_on_401_a_client_re_authenticates_via_the_token_endpoint(self, alice: Player) -> None:
        alice.headers["Authorization"] = "Bearer x.y.z"
        assert alice.get("/api/monitors").status_code == 401
        alice.headers["Authorization"] = f"Bearer {alice.fetch_token()}"
        assert alice.get("/api/monitors").status_code == 200

    def test_key_rotation_without_downtime(self, service: RunningService) -> None:
        team = form_team(service)
        # (1) create a new key, (2) deploy its token
        with Player(service, team) as old, Player(service, team) as new:
            assert [old.get("/api/monitors").status_code, new.get("/api/monitors").status_code] == [200, 200]
            service.run(revoke_key(old.client_id))  # (3) revoke the old key once traffic has shifted
            assert [old.get("/api/monitors").status_code, new.get("/api/monitors").status_code] == [401, 200]


class TestLimits:
    """8. Limits; monitor count and rate limit are told by their messages above."""

    def test_token_lifetime_24_hours(self, alice: Player) -> None:
        claims = jwt.decode(alice.headers["Authorization"][7:], options={"verify_signature": False})
        assert claims["exp"] - claims["iat"] == 24 * 3600
