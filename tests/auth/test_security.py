"""Who is let in: every 401 and 403 of the document, and revocation from the very next request on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from cast import Player
from monitoring.auth.models import ApiKey
from monitoring.auth.service import revoke_key
from running_service import WEBHOOK_SECRET, RunningService, running_service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from monitoring.auth.models import Team
    from monitoring.contract.catalogue import Catalogue

MONITORS = "/api/monitors"
WEBHOOK = "/api/webhooks/publisher"


class TestBearer:
    @pytest.mark.parametrize(
        "header",
        [None, "", "Bearer", "Basic abc", "bearer", "Bearer a b", "Bearer ä", "\xff\xfeBearer x", "Token a"],
    )
    def test_a_missing_or_malformed_header_is_told_so(
        self, mallory: httpx.Client, catalogue: Catalogue, header: str | None
    ) -> None:
        headers = [] if header is None else [(b"Authorization", header.encode("latin-1"))]
        answer = mallory.get(MONITORS, headers=headers)
        assert answer.status_code == 401
        assert answer.json() == catalogue.respond("authorization_missing").body
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="monitoring"'

    def test_a_token_with_padding_is_not_ours(self, alice: Player, catalogue: Catalogue) -> None:
        padded = alice.headers["Authorization"] + "="
        answer = alice.get(MONITORS, headers={"Authorization": padded})
        assert answer.status_code == 401
        assert answer.json() == catalogue.respond("token_invalid").body

    def test_two_authorization_headers_are_one_too_many(
        self, alice: Player, mallory: httpx.Client, catalogue: Catalogue
    ) -> None:
        token = alice.headers["Authorization"]
        answer = mallory.get(MONITORS, headers=[("Authorization", token), ("Authorization", "Bearer x")])
        assert answer.json() == catalogue.respond("authorization_missing").body

    def test_a_tampered_token_is_invalid(self, mallory: httpx.Client, catalogue: Catalogue) -> None:
        answer = mallory.get(MONITORS, headers={"Authorization": "Bearer abc.def.ghi"})
        assert answer.json() == catalogue.respond("token_invalid").body
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="monitoring", error="invalid_token"'

    def test_the_scheme_is_case_insensitive(self, alice: Player) -> None:
        token = alice.headers["Authorization"].replace("Bearer", "bEARER")
        assert alice.get(MONITORS, headers={"Authorization": token}).status_code == 200

    def test_a_revoked_keys_token_is_refused_at_the_very_next_request(
        self, alice: Player, service: RunningService, catalogue: Catalogue
    ) -> None:
        assert alice.get(MONITORS).status_code == 200
        service.run(revoke_key(alice.client_id))
        answer = alice.get(MONITORS)
        assert answer.status_code == 401
        assert answer.json() == catalogue.respond("api_key_invalid").body

    def test_a_key_is_rotated_without_downtime(
        self, service: RunningService, alice: Player, team: Team
    ) -> None:
        with Player(service, team) as renewed:
            assert alice.get(MONITORS).status_code == 200
            assert renewed.get(MONITORS).status_code == 200
            service.run(revoke_key(alice.client_id))
            assert alice.get(MONITORS).status_code == 401
            assert renewed.get(MONITORS).status_code == 200

    def test_a_key_without_the_scope_lacks_permission(self, bob: Player, catalogue: Catalogue) -> None:
        answer = bob.post(MONITORS, json={"url": "https://shop.example.com/"})
        assert answer.status_code == 403
        assert answer.json() == catalogue.respond("insufficient_permissions", values={"scope": ""}).body
        assert 'error="insufficient_scope", scope="monitors:write"' in answer.headers["WWW-Authenticate"]

    def test_a_narrowed_token_may_do_no_more_than_it_asked_for(self, alice: Player) -> None:
        narrowed = {"Authorization": f"Bearer {alice.fetch_token(scope='monitors:read')}"}
        assert alice.get(MONITORS, headers=narrowed).status_code == 200
        answer = alice.post(MONITORS, json={"url": "https://shop.example.com/"}, headers=narrowed)
        assert answer.status_code == 403

    def test_using_a_key_is_noted(self, alice: Player, service: RunningService) -> None:
        async def last_used() -> object:
            return (await ApiKey.get(client_id=alice.client_id)).last_used_at

        assert service.run(last_used()) is None
        alice.get(MONITORS)
        assert service.run(last_used()) is not None


class TestWebhookSecret:
    @pytest.mark.parametrize(
        "secret", [None, "", "wrong", WEBHOOK_SECRET[:-1], WEBHOOK_SECRET + "x", "ä" * 20]
    )
    def test_a_missing_or_wrong_secret_is_refused_before_the_body_is_read(
        self, mallory: httpx.Client, catalogue: Catalogue, secret: str | None
    ) -> None:
        headers = [] if secret is None else [(b"X-Webhook-Secret", secret.encode("latin-1"))]
        answer = mallory.post(WEBHOOK, content=b"{not json", headers=headers)
        assert answer.status_code == 401
        assert answer.json() == catalogue.respond("webhook_secret_invalid").body
        assert "WWW-Authenticate" in answer.headers

    def test_the_secret_alone_is_enough(self, publisher: httpx.Client) -> None:
        assert publisher.post(WEBHOOK, json={"event": "test", "article": {"title": "x"}}).status_code == 202

    def test_a_bearer_token_that_is_sent_must_be_valid(
        self, publisher: httpx.Client, alice: Player, catalogue: Catalogue
    ) -> None:
        ping = {"event": "test", "article": {"title": "x"}}
        good = {"Authorization": alice.headers["Authorization"]}
        assert publisher.post(WEBHOOK, json=ping, headers=good).status_code == 202
        bad = publisher.post(WEBHOOK, json=ping, headers={"Authorization": "Bearer a.b.c"})
        assert bad.json() == catalogue.respond("token_invalid").body
        malformed = publisher.post(WEBHOOK, json=ping, headers={"Authorization": ""})
        assert malformed.json() == catalogue.respond("authorization_missing").body


class TestAlternatives:
    """`get_article` takes the webhook's secret or a token."""

    PATH = "/api/articles/019a9c41-0c2e-7f55-8a3b-6d1f9e4b7a12"

    def test_a_token_is_enough(self, site: Player) -> None:
        assert site.get(self.PATH).status_code == 404

    def test_the_secret_is_enough_whatever_the_token_beside_it_may_do(
        self, publisher: httpx.Client, alice: Player
    ) -> None:
        beside = {"Authorization": alice.headers["Authorization"]}
        assert publisher.get(self.PATH, headers=beside).status_code == 404

    def test_a_scheme_without_a_token_is_no_token(self, publisher: httpx.Client) -> None:
        assert publisher.get(self.PATH, headers={"Authorization": "Bearer"}).status_code == 404

    @pytest.mark.parametrize(
        ("headers", "name"),
        [
            ({}, "webhook_secret_invalid"),
            ({"X-Webhook-Secret": "wrong", "Authorization": "{site}"}, "webhook_secret_invalid"),
            ({"X-Webhook-Secret": WEBHOOK_SECRET, "Authorization": "Bearer a.b.c"}, "token_invalid"),
            ({"Authorization": "Bearer a.b.c"}, "token_invalid"),
            ({"Authorization": "Basic abc"}, "authorization_missing"),
            ({"Authorization": "{alice}"}, "insufficient_permissions"),
        ],
    )
    def test_whatever_was_sent_must_be_good(  # noqa: PLR0913, PLR0917 - the cast
        self,
        mallory: httpx.Client,
        site: Player,
        alice: Player,
        catalogue: Catalogue,
        headers: dict[str, str],
        name: str,
    ) -> None:
        tokens = {"site": site.headers["Authorization"], "alice": alice.headers["Authorization"]}
        sent = {header: value.format_map(tokens) for header, value in headers.items()}
        answer = mallory.get(self.PATH, headers=sent)
        refusal = catalogue.respond(name, values={"scope": "articles:read"})
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)

    def test_only_a_token_counts_against_the_limit_of_its_key(
        self, publisher: httpx.Client, site: Player
    ) -> None:
        assert "RateLimit" in site.get(self.PATH).headers
        assert "RateLimit" not in publisher.get(self.PATH).headers


@pytest.fixture(scope="module")
def strict_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(
        tmp_path_factory.mktemp("strict"),
        webhook_secrets=f"{WEBHOOK_SECRET},another-secret-that-rotates-in",
        webhook_require_bearer=True,
    ) as running:
        yield running


class TestWebhookSettings:
    PING = {"event": "test", "article": {"title": "x"}}  # noqa: RUF012 - no test changes it

    def test_every_configured_secret_is_accepted_and_a_token_can_be_demanded(
        self, strict_service: RunningService, catalogue: Catalogue
    ) -> None:
        for secret in (WEBHOOK_SECRET, "another-secret-that-rotates-in"):
            answer = httpx.post(
                f"{strict_service.base_url}{WEBHOOK}", json=self.PING, headers={"X-Webhook-Secret": secret}
            )
            assert answer.json() == catalogue.respond("authorization_missing").body

    def test_without_a_configured_secret_even_mallory_is_told_503(
        self, tmp_path: Path, catalogue: Catalogue
    ) -> None:
        with running_service(tmp_path, webhook_secrets=None, blog_storage_url=None) as unconfigured:
            answer = httpx.post(f"{unconfigured.base_url}{WEBHOOK}", content=b"{")
            assert answer.status_code == 503
            assert answer.json() == catalogue.respond("webhook_secret_not_configured").body
            assert int(answer.headers["Retry-After"]) > 0

    def test_without_blog_storage_only_who_knows_the_secret_is_told(
        self, tmp_path: Path, catalogue: Catalogue
    ) -> None:
        with running_service(tmp_path, blog_storage_url=None) as without_storage:
            url = f"{without_storage.base_url}{WEBHOOK}"
            assert httpx.post(url, content=b"{").status_code == 401
            answer = httpx.post(url, content=b"{", headers={"X-Webhook-Secret": WEBHOOK_SECRET})
            assert answer.status_code == 503
            assert answer.json() == catalogue.respond("blog_storage_not_configured").body
