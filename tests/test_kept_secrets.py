"""Tests that a service with many secrets never reveals one, with or without failures."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any
from uuid import UUID

import httpx
import pytest

from monitoring.backends.encryption import generate_encryption_key
from monitoring.monitors.models import Monitor
from monitors.conversations import MONITORS, create, path_of
from notifications.addressee import Addressee
from notifications.conversations import CHANNELS
from service_process import Installation, wait_until
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

SETTINGS = {
    "SIGNING_KEYS": "a-distinctive-signing-key-0123456789",
    "ENCRYPTION_KEYS": generate_encryption_key(),
    "WEBHOOK_SECRETS": "a-distinctive-webhook-secret-0123456789",
    "TRANSLATOR_API_KEY": "a-distinctive-engine-key-0123456789",
}
MAIL_PASSWORD = "a-distinctive-mail-password-0123456789"
AUTHORIZATION = "Bearer a-distinctive-header-0123456789"
COOKIE = "session=a-distinctive-cookie-0123456789"
WRONG = "a-distinctive-wrong-value-0123456789"


class SecretKeeper:
    """A service with secrets in all its settings, and everything that it has written and returned."""

    def __init__(self, installation: Installation, base_url: str) -> None:
        self.installation = installation
        self.client = httpx.Client(base_url=base_url, timeout=30, event_hooks={"response": [self._keep]})
        self.answers: list[str] = []

    def _keep(self, answer: httpx.Response) -> None:
        self.answers.append(f"{answer.read()!r} {answer.headers}")

    def log(self) -> str:
        return self.installation.log.read_text()

    def metrics(self) -> str:
        [url] = re.findall(r"Metrics on (http\S+)\n", self.log())
        return httpx.get(url, timeout=30).text


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[SecretKeeper]:
    installation = Installation(tmp_path)
    installation.environment |= SETTINGS | {
        "SMTP_URL": f"smtp://user:{MAIL_PASSWORD}@127.0.0.1:1",
        "EMAIL_FROM": "monitoring@example.com",
        "LOG_LEVEL": "debug",
        "ACCESS_LOG": "true",
        "METRICS_PORT": "0",
        "CHECKS_AT_ONCE": "5",
        "ALLOWED_NETWORKS": "127.0.0.0/8",
        "TRANSLATOR": "libretranslate",
        "TRANSLATOR_URL": "http://127.0.0.1:1",  # nothing listens there
        "LOCALES": "es",
    }
    installation.make_tables()
    with installation.serve() as process:
        keeper = SecretKeeper(installation, process.base_url)
        with keeper.client:
            yield keeper


@pytest.mark.embedded("there one process does everything")
@pytest.mark.traceback_expected("it must show no secret, which it could")
def test_no_secret_is_in_logs_metrics_answers_or_the_database(keeper: SecretKeeper, tmp_path: Path) -> None:
    with Addressee() as stranger:
        issued = _drive(keeper, stranger)
        received = [each for each in stranger.received if each.headers.get("authorization")]
        assert {(each.headers["authorization"], each.headers["cookie"]) for each in received} == {
            (AUTHORIZATION, COOKIE)
        }
    secrets = [
        *SETTINGS.values(),
        MAIL_PASSWORD,
        AUTHORIZATION.split()[1],
        COOKIE.split("=")[1],
        WRONG,
        *issued,
    ]
    database = b"".join(path.read_bytes() for path in tmp_path.glob("monitoring.db*"))
    places = {
        "the log": keeper.log(),
        "the metrics": keeper.metrics(),
        "the database": database.decode("latin-1"),
        **{f"answer {number}": answer for number, answer in enumerate(keeper.answers)},
    }
    assert "a-distinctive-name" in places["the database"]
    assert [(place, secret) for place, text in places.items() for secret in secrets if secret in text] == []
    assert "Traceback" in places["the log"]


def _drive(keeper: SecretKeeper, stranger: Addressee) -> Sequence[str]:
    """Send correct and incorrect requests as clients do. Return the secrets that the service issued."""
    client = keeper.client
    keeper.installation.run("teams", "create", "Acme")
    key = json.loads(keeper.installation.run("keys", "create", "Acme", "--name", "Deploy", "--json"))
    credentials = {"client_id": key["client_id"], "client_secret": key["client_secret"]}
    token = client.post("/api/oauth/token", data=credentials).json()["access_token"]
    keeper.answers.pop()  # this response is the only one that may contain the token
    client.headers["Authorization"] = f"Bearer {token}"
    again = {"Idempotency-Key": "4c1f0f1e-8a0b-4f0e-9c59-3d2d9a1f7b11"}
    webhook = client.post(CHANNELS, json={"type": "webhook", "url": stranger.url}, headers=again).json()
    keeper.answers.pop()
    client.post(f"{CHANNELS}/{webhook['id']}/test")
    email = client.post(CHANNELS, json={"type": "email", "address": "ops@example.com"}).json()
    wait_until(lambda: "cannot be reached" in client.get(f"{CHANNELS}/{email['id']}/deliveries").text)
    monitor = create(
        client,
        name="a-distinctive-name",
        url=stranger.url,
        method="POST",
        request_body="x",
        request_headers={"Authorization": AUTHORIZATION, "Cookie": COOKIE},
    )
    _go_wrong(keeper, monitor)
    wait_until(lambda: len({"webhook-id" in each.headers for each in stranger.received}) == 2)
    client.get(MONITORS)
    asyncio.run(_break(keeper, monitor))
    assert client.patch(path_of(monitor), json={"name": "b"}).status_code == 500
    return [key["client_secret"], token, webhook["secret"].removeprefix("whsec_")]


def _go_wrong(keeper: SecretKeeper, monitor: dict[str, Any]) -> None:
    client, wrong = keeper.client, {"Authorization": f"Bearer {WRONG}"}
    client.get(MONITORS, headers=wrong)
    client.post("/api/oauth/token", data={"client_id": "mon_live_x", "client_secret": WRONG})
    client.post("/api/oauth/token", auth=("mon_live_x", WRONG))
    client.post("/api/oauth/introspect", data={"token": WRONG}, auth=("mon_live_x", WRONG))
    client.post(MONITORS, json={"url": f"https://alice:{WRONG}@shop.example.com"})
    client.post(MONITORS, json={"url": 1, "request_headers": {"Authorization": f"{WRONG}\x7f"}})
    client.post(MONITORS, content=f'{{"request_headers": {{"Authorization": "{WRONG}')
    client.patch(path_of(monitor), json={"request_headers": {"X-Key": WRONG, "Host": WRONG}})
    client.patch(path_of(monitor), json={"request_headers": {"Cookie": "********", "X-Key": "********"}})
    client.get(f"{MONITORS}?cursor={WRONG}")
    client.post("/api/webhooks/publisher", headers={"X-Webhook-Secret": WRONG}, json={})
    publishing = {"X-Webhook-Secret": SETTINGS["WEBHOOK_SECRETS"]}
    client.post("/api/webhooks/publisher", headers=publishing, json={"article": {"title": "Shoes"}})
    client.post("/app/sign-in", data={"email": "alice@example.com", "password": WRONG})


async def _break(keeper: SecretKeeper, monitor: dict[str, Any]) -> None:
    """Corrupt stored data, as if the key were lost, so that changing the monitor causes an internal error."""
    async with temporary_backends(keeper.installation.folder):
        await Monitor.filter(id=UUID(monitor["id"])).update(encrypted_headers="gAAAAAspoilt")
