"""Ghost's signature and Outrank's token in place of X-Webhook-Secret, where the operator has set them."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx
import pytest

from running_service import WEBHOOK_SECRET, running_service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cast import Player
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

WEBHOOK = "/api/webhooks/publisher"
GHOST_SECRET = "a-secret-of-ghosts-webhook"
NEXT_GHOST_SECRET = "a-secret-that-ghost-gets-next"
OUTRANK_TOKEN = "an-access-token-of-outrank"
PING = json.dumps({"event": "test", "article": {"title": "x"}}).encode()
HEADERS = {"Content-Type": "application/json"}


def sign(body: bytes = PING, *, secret: str = GHOST_SECRET, seconds_ago: float = 0) -> dict[str, str]:
    """Sign a body as Ghost does: the body, and after it the time in milliseconds."""
    sent_at = str(int((time.time() - seconds_ago) * 1000))
    signature = hmac.new(secret.encode(), body + sent_at.encode(), hashlib.sha256).hexdigest()
    return HEADERS | {"X-Ghost-Signature": f"sha256={signature}, t={sent_at}"}


def bear(token: str, word: str = "Bearer") -> dict[str, str]:
    return HEADERS | {"Authorization": f"{word} {token}".strip()}


@pytest.fixture(scope="module")
def trusting_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(
        tmp_path_factory.mktemp("trusting"),
        ghost_webhook_secrets=f"{GHOST_SECRET},{NEXT_GHOST_SECRET}",
        outrank_access_tokens=OUTRANK_TOKEN,
    ) as running:
        yield running


@pytest.fixture
def stranger(trusting_service: RunningService) -> Iterator[httpx.Client]:
    """Connect somebody who sends no X-Webhook-Secret."""
    with httpx.Client(base_url=trusting_service.base_url, timeout=30) as client:
        yield client


def assert_is_refused(
    answer: httpx.Response, catalogue: Catalogue, error: str = "webhook_secret_invalid"
) -> None:
    """Demand the answer to a wrong secret, or to what is sent in its place."""
    assert (answer.status_code, answer.json()) == (401, catalogue.respond(error).body)
    assert "WWW-Authenticate" in answer.headers


class TestGhostSignature:
    @pytest.mark.parametrize("secret", [GHOST_SECRET, NEXT_GHOST_SECRET])
    def test_is_as_good_as_the_secret(self, stranger: httpx.Client, secret: str) -> None:
        assert stranger.post(WEBHOOK, content=PING, headers=sign(secret=secret)).status_code == 202

    def test_leaves_the_body_for_the_operation_to_read(self, stranger: httpx.Client) -> None:
        title = "x" * 100_000
        body = json.dumps({"article": {"id": str(uuid4()), "content": title}}).encode()
        answer = stranger.post(WEBHOOK, content=iter([body[:10], body[10:]]), headers=sign(body))
        assert answer.json()["status"] == "accepted"
        assert stranger.post(WEBHOOK, content=b"{", headers=sign(b"{")).status_code == 400
        assert stranger.post(WEBHOOK, content=b"", headers=sign(b"")).status_code == 400

    def test_is_refused_if_it_is_of_another_body(self, stranger: httpx.Client, catalogue: Catalogue) -> None:
        answer = stranger.post(WEBHOOK, content=PING, headers=sign(PING + b" "))
        assert_is_refused(answer, catalogue, "ghost_signature_invalid")

    @pytest.mark.parametrize("secret", ["another-secret-of-ghosts", WEBHOOK_SECRET, ""])
    def test_is_refused_if_it_has_another_secret(
        self, stranger: httpx.Client, catalogue: Catalogue, secret: str
    ) -> None:
        answer = stranger.post(WEBHOOK, content=PING, headers=sign(secret=secret))
        assert_is_refused(answer, catalogue, "ghost_signature_invalid")

    @pytest.mark.parametrize("signature", ["sha256=, t=", f"sha256={'0' * 64}", ""])
    def test_is_refused_if_it_is_none(
        self, stranger: httpx.Client, catalogue: Catalogue, signature: str
    ) -> None:
        headers = HEADERS | {"X-Ghost-Signature": signature}
        answer = stranger.post(WEBHOOK, content=PING, headers=headers)
        assert_is_refused(answer, catalogue, "ghost_signature_unreadable")

    @pytest.mark.parametrize("seconds_ago", [400, -400])
    def test_is_refused_if_it_is_of_another_time(
        self, stranger: httpx.Client, catalogue: Catalogue, seconds_ago: float
    ) -> None:
        headers = sign(seconds_ago=seconds_ago)
        answer = stranger.post(WEBHOOK, content=PING, headers=headers)
        assert_is_refused(answer, catalogue, "ghost_signature_expired")
        recent = sign(seconds_ago=seconds_ago / 2)
        assert stranger.post(WEBHOOK, content=PING, headers=recent).status_code == 202

    def test_must_sign_the_time(self, stranger: httpx.Client, catalogue: Catalogue) -> None:
        """Ghost before July 2024 did not."""
        signature = hmac.new(GHOST_SECRET.encode(), PING, hashlib.sha256).hexdigest()
        headers = HEADERS | {"X-Ghost-Signature": f"sha256={signature}, t={int(time.time() * 1000)}"}
        answer = stranger.post(WEBHOOK, content=PING, headers=headers)
        assert_is_refused(answer, catalogue, "ghost_signature_invalid")

    def test_a_body_that_is_too_large_is_not_kept_for_it(
        self, stranger: httpx.Client, trusting_service: RunningService, catalogue: Catalogue
    ) -> None:
        body = b" " * (trusting_service.settings.max_body_bytes + 1)
        answer = stranger.post(WEBHOOK, content=body, headers=sign(body))
        assert (answer.status_code, answer.json()) == (413, catalogue.respond("body_too_large").body)

    def test_a_bearer_token_beside_it_must_be_valid(
        self, stranger: httpx.Client, catalogue: Catalogue
    ) -> None:
        headers = sign() | {"Authorization": "Bearer a.b.c"}
        answer = stranger.post(WEBHOOK, content=PING, headers=headers)
        assert answer.json() == catalogue.respond("token_invalid").body

    def test_a_wrong_one_takes_nothing_from_the_secret(self, stranger: httpx.Client) -> None:
        headers = sign(b"another body") | {"X-Webhook-Secret": WEBHOOK_SECRET}
        assert stranger.post(WEBHOOK, content=PING, headers=headers).status_code == 202


class TestOutrankToken:
    @pytest.mark.parametrize("word", ["Bearer", "bearer"])
    def test_is_as_good_as_the_secret(self, stranger: httpx.Client, word: str) -> None:
        answer = stranger.post(WEBHOOK, content=PING, headers=bear(OUTRANK_TOKEN, word))
        assert answer.status_code == 202

    @pytest.mark.parametrize(
        ("headers", "error"),
        [
            (bear(f"{OUTRANK_TOKEN}x"), "outrank_token_invalid"),
            (bear(OUTRANK_TOKEN, ""), "outrank_token_invalid"),
            (bear(OUTRANK_TOKEN, "Basic"), "outrank_token_invalid"),
            (bear(""), "webhook_secret_invalid"),
            (bear(OUTRANK_TOKEN + "x") | {"X-Webhook-Secret": "wrong"}, "webhook_secret_invalid"),
        ],
    )
    def test_is_refused_if_it_is_wrong(
        self, stranger: httpx.Client, catalogue: Catalogue, headers: dict[str, str], error: str
    ) -> None:
        assert_is_refused(stranger.post(WEBHOOK, content=PING, headers=headers), catalogue, error)

    def test_leaves_room_for_the_token_of_an_api_key(
        self, service: RunningService, alice: Player, stranger: httpx.Client, catalogue: Catalogue
    ) -> None:
        headers = HEADERS | {"X-Webhook-Secret": WEBHOOK_SECRET}
        foreign = headers | {"Authorization": alice.headers["Authorization"]}
        # Alice's key is another service's.
        answer = stranger.post(WEBHOOK, content=PING, headers=foreign)
        assert answer.json() == catalogue.respond("api_key_invalid").body
        assert httpx.post(f"{service.base_url}{WEBHOOK}", content=PING, headers=foreign).status_code == 202


class TestWhereNothingElseIsOpened:
    def test_an_operator_who_has_set_nothing_accepts_nothing(
        self, mallory: httpx.Client, catalogue: Catalogue
    ) -> None:
        for headers in (sign(), bear(OUTRANK_TOKEN)):
            assert_is_refused(mallory.post(WEBHOOK, content=PING, headers=headers), catalogue)

    def test_articles_are_neither_read_nor_deleted(
        self, stranger: httpx.Client, catalogue: Catalogue
    ) -> None:
        address = f"/api/articles/{uuid4()}"
        for headers in (sign(b""), bear(OUTRANK_TOKEN)):
            assert_is_refused(stranger.delete(address, headers=headers), catalogue)
        assert_is_refused(stranger.get(address, headers=sign(b"")), catalogue)
        read = stranger.get(address, headers=bear(OUTRANK_TOKEN))
        assert read.json() == catalogue.respond("token_invalid").body


class TestSettings:
    def test_ghost_needs_no_webhook_secret_beside_its_own(self, tmp_path: Path, catalogue: Catalogue) -> None:
        with running_service(tmp_path, webhook_secrets=None, ghost_webhook_secrets=GHOST_SECRET) as running:
            url = f"{running.base_url}{WEBHOOK}"
            assert httpx.post(url, content=PING, headers=sign()).status_code == 202
            wrong = httpx.post(url, content=PING, headers=sign(b"another"))
            assert_is_refused(wrong, catalogue, "ghost_signature_invalid")
            assert_is_refused(httpx.post(url, content=PING, headers=HEADERS), catalogue)
            state = httpx.get(f"{running.base_url}/api/articles/{uuid4()}")
            assert state.json() == catalogue.respond("webhook_secret_not_configured").body

    def test_a_bearer_token_that_is_demanded_is_demanded_of_ghost_too(
        self, tmp_path: Path, catalogue: Catalogue
    ) -> None:
        with running_service(
            tmp_path,
            webhook_require_bearer=True,
            ghost_webhook_secrets=GHOST_SECRET,
            outrank_access_tokens=OUTRANK_TOKEN,
        ) as strict:
            url = f"{strict.base_url}{WEBHOOK}"
            answer = httpx.post(url, content=PING, headers=sign())
            assert answer.json() == catalogue.respond("authorization_missing").body
            assert httpx.post(url, content=PING, headers=bear(OUTRANK_TOKEN)).status_code == 202

    def test_wrong_signatures_are_limited_and_right_ones_never(self, tmp_path: Path) -> None:
        with running_service(
            tmp_path, rate_limit_webhook_failures="2/60", ghost_webhook_secrets=GHOST_SECRET
        ) as tight:
            url = f"{tight.base_url}{WEBHOOK}"
            wrong = [httpx.post(url, content=PING, headers=sign(b"another")) for _ in range(3)]
            assert [answer.status_code for answer in wrong] == [401, 401, 429]
            assert httpx.post(url, content=PING, headers=sign()).status_code == 202
