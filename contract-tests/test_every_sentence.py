"""Every error the document names, provoked: the running service says its example word for word."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import orjson
import pytest

from cast import Player, form_team
from monitoring.auth.service import revoke_key
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import Node, load_document
from monitoring.contract.validation import Validation
from monitoring.monitors.models import Monitor
from monitoring.monitors.service import create_monitor
from raw_http import Answer, exchange, request
from running_service import WEBHOOK_SECRET, RunningService, running_service

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from uuid import UUID

DOCUMENT = load_document()
CATALOGUE = Catalogue(DOCUMENT)
VALIDATION = Validation(DOCUMENT)

MONITORS, MONITOR = "/api/monitors", "/api/monitors/{monitor_id}"
ARTICLE, TOKEN, WEBHOOK = "/api/articles/{article_id}", "/api/oauth/token", "/api/webhooks/publisher"

ALICE, BOB = "Authorization: {alice}", "Authorization: {bob}"
REVOKED, UNLUCKY = "Authorization: {revoked}", "Authorization: {unlucky}"
BASIC = "Authorization: Basic {alice_basic}"
SECRET = f"X-Webhook-Secret: {WEBHOOK_SECRET}"
JSON = "Content-Type: application/json"
FORM = "Content-Type: application/x-www-form-urlencoded"
KEY = "Idempotency-Key: once"

FRAMING = {"connection", "content-length", "content-type", "date", "server"}


@dataclass(frozen=True, slots=True)
class Ask:
    """A request; path and headers may have `{words}` of the scene."""

    method: str
    path: str
    headers: tuple[str, ...] = ()
    body: bytes = b""
    query: str = ""

    def of(self, service: RunningService, scene: Mapping[str, str]) -> Answer:
        """Ask the service."""
        headers = [header.format_map(scene) for header in self.headers]
        target = self.path.format_map(scene) + self.query
        return exchange(("127.0.0.1", service.port), request(self.method, target, *headers, body=self.body))


def ask(method: str, path: str, *headers: str, body: bytes = b"", query: str = "") -> Ask:
    return Ask(method, path, headers, body, query)


def create(**fields: Any) -> Ask:
    return ask(
        "POST", MONITORS, ALICE, JSON, body=json.dumps({"url": "https://a.example/"} | fields).encode()
    )


def change(*headers: str, **fields: Any) -> Ask:
    return ask("PATCH", MONITOR, ALICE, JSON, *headers, body=json.dumps(fields).encode())


def many_headers(prefix: str) -> dict[str, str]:
    return {f"{prefix}-{number}": "1" for number in range(20)}


# Name of the error -> requests, the last of which is answered with it.
PROVOCATIONS: dict[str, list[Ask]] = {
    # Every operation
    "not_found": [ask("GET", "/nowhere")],
    "method_not_allowed": [ask("DELETE", MONITORS)],
    "malformed_request": [ask("GET", "/health", query="?%zz")],
    "invalid_field": [ask("POST", WEBHOOK, SECRET, JSON, body=b"{}")],
    "malformed_json": [ask("POST", WEBHOOK, SECRET, JSON, body=b"{")],
    "body_required": [ask("POST", WEBHOOK, SECRET, JSON)],
    "body_too_large": [ask("POST", WEBHOOK, SECRET, JSON, "Content-Length: 1048577")],
    "unsupported_media_type": [ask("POST", WEBHOOK, SECRET, "Content-Type: text/plain", body=b"{}")],
    "internal_error": [ask("GET", MONITORS, UNLUCKY)],
    "service_unavailable": [ask("POST", WEBHOOK, SECRET, JSON, body=b'{"article": {"slug": "in-the-way"}}')],
    # Tokens and keys
    "authorization_missing": [ask("GET", MONITORS)],
    "token_invalid": [ask("GET", MONITORS, f"{ALICE}x")],
    "api_key_invalid": [ask("GET", MONITORS, REVOKED)],
    "insufficient_permissions": [ask("DELETE", MONITOR, BOB)],
    "rate_limited": [ask("GET", MONITORS, ALICE)] * 2,
    "oauth_invalid_client": [ask("POST", TOKEN)],
    "oauth_invalid_field": [ask("POST", TOKEN, FORM, body=b"client_id=a&client_id=a")],
    "oauth_invalid_scope": [ask("POST", TOKEN, BASIC, FORM, body=b"scope=monitors:own")],
    "oauth_malformed_form": [ask("POST", TOKEN, FORM, body=b"client_id=%zz")],
    "oauth_malformed_request": [ask("POST", TOKEN, query="?%zz")],
    "oauth_two_authentications": [ask("POST", TOKEN, BASIC, FORM, body=b"client_secret=a")],
    "oauth_unsupported_grant_type": [ask("POST", TOKEN, BASIC, FORM, body=b"grant_type=password")],
    # Monitors
    "cursor_invalid": [ask("GET", MONITORS, ALICE, query="?cursor=a")],
    "idempotency_key_reused": [change(KEY, name="One"), change(KEY, name="Another")],
    "keyword_without_body": [create(method="HEAD", required_keyword="ok")],
    "monitor_changed": [change('If-Match: "0"', name="One")],
    "monitor_limit_reached": [create()] * 10,  # and one is there
    "monitor_not_found": [ask("DELETE", MONITOR, ALICE)] * 2,
    "request_body_without_content": [create(request_body="a")],
    "request_header_name_invalid": [create(request_headers={"no name": "a"})],
    "request_header_reserved": [create(request_headers={"Content-Length": "1"})],
    "request_header_repeated": [create(request_headers={"Accept": "1", "accept": "2"})],
    "request_headers_too_many": [change(request_headers=many_headers(prefix)) for prefix in "ab"],
    "status_range_reversed": [create(expected_status_codes=["299-200"])],
    "timeout_not_below_interval": [create(interval_seconds=60, timeout_seconds=60)],
    "url_host_invalid": [create(url="http://999.1.1.1/")],
    # Articles
    "article_not_found": [ask("GET", ARTICLE, SECRET)],
    "blog_storage_not_configured": [ask("POST", WEBHOOK, SECRET, JSON, body=b"{}")],
    "webhook_secret_invalid": [ask("POST", WEBHOOK, JSON, body=b"{}")],
    "webhook_secret_not_configured": [ask("POST", WEBHOOK, SECRET, JSON, body=b"{}")],
}

# What is different about the service that says it, where something must be.
SETTINGS: dict[str, dict[str, Any]] = {
    "blog_storage_not_configured": {"blog_storage_url": None},
    "rate_limited": {"rate_limit_api": "1/12"},
    "webhook_secret_not_configured": {"webhook_secrets": None},
}


@pytest.fixture(scope="module")
def ordinary_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("ordinary")) as service:
        yield service


@pytest.fixture
def service(name: str, ordinary_service: RunningService, tmp_path: Path) -> Iterator[RunningService]:
    if name in SETTINGS:
        with running_service(tmp_path, **SETTINGS[name]) as unusual_service:
            yield unusual_service
    else:
        yield ordinary_service


@pytest.fixture
def scene(service: RunningService) -> dict[str, str]:
    """Set up Alice's team with a monitor and three keys, one of them revoked, and an unlucky team."""
    team = form_team(service, max_monitors=10)
    with (
        Player(service, team) as alice,
        Player(service, team, ["monitors:read"]) as bob,
        Player(service, team) as revoked,
        Player(service, form_team(service)) as unlucky,
    ):
        service.run(revoke_key(revoked.client_id))
        monitor = service.run(create_monitor(team.id, {"url": "https://a.example/"}))
        service.run(create_spoilt_monitor(unlucky.team_id))
        put_something_in_the_way(service)
        return {
            "alice": alice.headers["Authorization"],
            "alice_basic": base64.b64encode(f"{alice.client_id}:{alice.client_secret}".encode()).decode(),
            "bob": bob.headers["Authorization"],
            "revoked": revoked.headers["Authorization"],
            "unlucky": unlucky.headers["Authorization"],
            "monitor_id": str(monitor.id),
            "article_id": str(uuid4()),
        }


async def create_spoilt_monitor(team_id: UUID) -> None:
    """Store what the document does not allow an answer to say."""
    monitor = await create_monitor(team_id, {"url": "https://a.example/"})
    await Monitor.filter(id=monitor.id).update(status="mislaid")


def put_something_in_the_way(service: RunningService) -> None:
    """Make the blog storage refuse one article's folder."""
    blog = service.settings.data_dir / "blog"
    blog.mkdir(exist_ok=True)
    (blog / "in-the-way").write_text("not a folder")


def test_every_sentence_has_a_provocation() -> None:
    assert PROVOCATIONS.keys() == CATALOGUE.templates.keys()


@pytest.mark.parametrize("name", PROVOCATIONS)
def test_the_service_says_it_as_written(name: str, service: RunningService, scene: dict[str, str]) -> None:
    *before, last = PROVOCATIONS[name]
    for earlier in before:
        assert earlier.of(service, scene).status < 400
    answer, template = last.of(service, scene), CATALOGUE.templates[name]
    assert (answer.status, answer.body) == (template.status, orjson.dumps(template.body))
    assert answer.headers["content-type"] == "application/json"
    for header, text in template.headers.items():
        assert answer.headers[header.lower()] == text.format(scope="monitors:write")
    check_headers(answer, documented_headers(last, template.status))


def check_headers(answer: Answer, documented: Mapping[str, Node]) -> None:
    """Demand every header the document requires, none it does not know, and each as its schema says."""
    required = {header for header, node in documented.items() if node.get("required")}
    sent = answer.headers.keys() - FRAMING
    assert required <= sent <= documented.keys()
    for header in sent:
        text, schema = answer.headers[header], documented[header]["schema"]
        VALIDATION.response_check(schema)(int(text) if schema["type"] == "integer" else text)
    if "retry-after" in sent and "retry_after_seconds" in answer.json:
        assert answer.headers["retry-after"] == str(answer.json["retry_after_seconds"])
    if "allow" in sent:
        assert answer.headers["allow"] == documented["allow"]["example"]


def documented_headers(asked: Ask, status: int) -> Mapping[str, Node]:
    """Look up what may be sent with a status; what is no operation has responses of its own."""
    operation = DOCUMENT.root["paths"].get(asked.path, {}).get(asked.method.lower(), {"responses": {}})
    unattached = DOCUMENT.root["components"]["responses"].values()
    response = operation["responses"].get(str(status)) or next(
        response for response in unattached if response.get("x-status") == status
    )
    headers = DOCUMENT.follow(response)["headers"]
    return {name.lower(): DOCUMENT.follow(header) for name, header in headers.items()}
