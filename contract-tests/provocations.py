"""Defines how to provoke each error in the document, for every operation that has the error."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import promises
from monitoring.contract.timestamps import write_timestamp
from running_service import WEBHOOK_SECRET

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from monitoring.contract.document import Operation
    from promises import Answer
    from running_service import RunningService

# Values in braces are filled in from the scene, which is a dict.
ALICE = "Authorization: {alice}"
TESS = "Authorization: {tess}"  # Tess has a test key
REVOKED = "Authorization: {revoked}"
BASIC = "Authorization: Basic {alice_basic}"
MIXED_UP = "Authorization: Basic {alice_mixed_up}"  # Alice's client id with the secret of another key
SECRET = f"X-Webhook-Secret: {WEBHOOK_SECRET}"
CREDENTIALS = {"bearerAuth": ALICE, "webhookSecret": SECRET}

# Keys of the scene that are used in bodies.
WORDS_OF_BODIES = ("another_token", "nothing", "paused_monitor_of_tess", "monitor_of_tess")

LAST_ID = re.compile(r"\{(\w+)\}(?=[^{]*$)")  # the last id in a path

MAX_BODY_BYTES = 1_048_576
YESTERDAY = datetime.now(UTC) - timedelta(days=1)
NOBODYS_ID = "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70"  # an id that does not exist, in the document's format
OF_POST = {
    "openapi": "3.1.0",
    "paths": {"/": {"post": {"operationId": "a", "responses": {"200": {"description": "a"}}}}},
}
OF_JSON = {"source": "json", "comparison": "exists"}
NOBODYS_HOURS = {"starts_at": "22:00", "ends_at": "07:00", "time_zone": "Mars/Olympus"}
# A body of 350 kB. When it is serialised again, each of its numbers takes 18 bytes.
LONGER_WHEN_STORED = (
    b'{"type": "custom", "url": "https://a.example/", "body": {"a": ['
    + b",".join([b"1e15"] * 70_000)
    + b"]}}"
)
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Ask:
    """A request. The path, the headers and some bodies may contain `{words}` that the scene replaces."""

    method: str
    path: str
    headers: tuple[str, ...] = ()
    body: bytes = b""
    query: str = ""

    def of(self, service: RunningService, scene: Mapping[str, str]) -> Answer:
        """Send the request to the service, and return the response."""
        headers = [header.format_map(scene) for header in self.headers]
        target = self.path.format_map(scene) + self.query
        body = self.body
        for word in WORDS_OF_BODIES:
            body = body.replace(f"{{{word}}}".encode(), scene.get(word, "").encode())
        return promises.ask(service, self.method, target, *headers, body=body)


def good_ask(
    operation: Operation, *headers: str, path: str = "", body: bytes | None = None, query: str = ""
) -> Ask:
    """Return a request that succeeds. Arguments can add headers or change a part, so that it is refused.

    A given header replaces the default header with the same name, such as the credentials or the
    Content-Type. If there are alternative credentials, the first alternative is used.
    """
    content = operation.definition.get("requestBody", {}).get("content", {})
    own = [CREDENTIALS[name] for scheme in operation.definition["security"][:1] for name in scheme]
    if operation.room == "sandbox":
        own = [TESS]
        body = b'{"monitor_id": "{monitor_of_tess}"}' if body is None and content else body
    for media_type, node in content.items():
        own.append(f"Content-Type: {media_type}")
        if body is None:
            example = next(iter(node["examples"].values()))["value"]
            body = (urlencode(example) if media_type == FORM else json.dumps(example)).encode()
    given = {header.partition(":")[0] for header in headers}
    kept = [header for header in own if header.partition(":")[0] not in given]
    return Ask(operation.method.upper(), path or operation.path, (*kept, *headers), body or b"", query)


def depend(operation: Operation, tag: str) -> Ask:
    """Return a request for an existing resource with this tag in If-Match."""
    stored = operation.path.replace("{article_id}", "{stored_article_id}")
    return good_ask(operation, f"If-Match: {tag}", path=stored)


def write(operation: Operation, *headers: str, **fields: Any) -> Ask:
    """Return a request that creates or changes a monitor, a notification channel or a maintenance window."""
    needed: dict[str, Any] = {} if operation.method == "patch" else {"url": "https://a.example/"}
    if operation.path.startswith("/api/maintenance-windows") and needed:
        needed = {"duration_seconds": 600}
    if operation.path.startswith("/api/notification-channels"):
        needed["type"] = "webhook"
    return good_ask(operation, *headers, body=json.dumps(needed | fields).encode())


def write_dns(operation: Operation, **settings: Any) -> Ask:
    """Return a request that creates or changes a monitor of type dns."""
    needed = {} if operation.method == "patch" else {"type": "dns", "url": "dns://a.example"}
    path = operation.path.replace("{monitor_id}", "{dns_monitor_id}")
    return replace(write(operation, dns=settings, **needed), path=path)


def schedule(operation: Operation, **settings: str) -> list[Ask]:
    """Return a request that creates a heartbeat with these settings, or changes an existing heartbeat."""
    body = json.dumps({"type": "heartbeat", "heartbeat": settings}).encode()
    return [good_ask(operation, path=of_heartbeat(operation), body=body)]


def of_heartbeat(operation: Operation) -> str:
    return operation.path.replace("{monitor_id}", "{heartbeat_id}")


def make_promise(schema: Any) -> dict[str, Any]:
    """Return an OpenAPI document with one operation whose response has this schema."""
    content = {"application/json": {"schema": schema}}
    operation = {"operationId": "a", "responses": {"200": {"description": "a", "content": content}}}
    return {"openapi": "3.1.0", "paths": {"/{order_id}": {"get": operation}}}


def write_contract(
    operation: Operation, document: dict[str, Any], operation_id: str = "a", **given: Any
) -> Ask:
    """Return a request that creates or changes a monitor with a contract."""
    return write(operation, contract={"document": document, "operation_id": operation_id, **given})


def write_many(operation: Operation, number: int) -> list[Ask]:
    """Return requests that create `number` resources, each under its own key if the operation takes a key."""
    return [
        replace(write(operation), path=operation.path.replace("{key}", f"k{each}")) for each in range(number)
    ]


def write_after(operation: Operation, *headers: str, **fields: Any) -> list[Ask]:
    """Return two requests with the same key: one that creates a resource, and then one with these changes."""
    return [write(operation), write(operation, *headers, **fields)]


def take_the_key(operation: Operation) -> list[Ask]:
    """Return requests that create a resource with a key, and then give another resource the same key."""
    collection = operation.path.rpartition("/")[0]
    [put] = [each for each in promises.OPERATIONS.values() if each.path == f"{collection}/by-key/{{key}}"]
    return [write(put), replace(write(operation, key="taken"))]


def send_form(operation: Operation, form: str) -> Ask:
    return good_ask(operation, BASIC, body=form.encode())


def fill_with_headers(operation: Operation) -> list[Ask]:
    """Return merge patches that together exceed a monitor's maximum number of headers."""
    return [
        write(operation, request_headers={f"{prefix}-{number}": "1" for number in range(20)})
        for prefix in "ab"
    ]


def lack_the_scope(operation: Operation) -> list[Ask]:
    other = "reader" if operation.definition["x-required-scope"].endswith(":write") else "writer"
    return [bear(operation, other)]


def bear(operation: Operation, word: str) -> Ask:
    """Return a request whose only credentials are the token with this name in the scene."""
    asked = good_ask(operation, f"Authorization: {{{word}}}")
    return replace(asked, headers=tuple(header for header in asked.headers if header != SECRET))


def bear_signature(operation: Operation, signature: str) -> Ask:
    """Return a request whose only credentials are a Ghost signature."""
    asked = good_ask(operation, f"X-Ghost-Signature: {signature}")
    return replace(asked, headers=tuple(header for header in asked.headers if header != SECRET))


def ask_for_nothing(operation: Operation) -> list[Ask]:
    if operation.room == "sandbox":
        return [good_ask(operation, body=b'{"monitor_id": "{nothing}"}')]
    return [good_ask(operation, path=LAST_ID.sub("{nothing}", operation.path))]


def rest_before(path: str, **resting: bool | str) -> Callable[[Operation], list[Ask]]:
    """Return a function that returns requests: one that pauses a resource, and then the operation's own."""
    patch = Ask("PATCH", path, (ALICE, "Content-Type: application/json"), json.dumps(resting).encode())
    return lambda operation: [patch, good_ask(operation)]


def use_a_key_twice(operation: Operation) -> list[Ask]:
    """Return two different requests with the same Idempotency-Key."""
    key = "Idempotency-Key: {fresh_key}"
    if operation.operation_id == "delete_monitor":
        return [good_ask(operation, key, 'If-Match: "1"'), good_ask(operation, key)]
    if operation.operation_id == "create_incident_note":
        return [good_ask(operation, key, body=b'{"text": "%d"}' % number) for number in range(2)]
    if operation.operation_id == "create_sandbox_incident":
        return [good_ask(operation, key), good_ask(operation, key, body=b'{"monitor_id": "{nothing}"}')]
    if operation.operation_id == "renew_ping_url":
        paths = [
            operation.path.replace("{monitor_id}", f"{{{word}heartbeat_id}}") for word in ("", "another_")
        ]
        return [good_ask(operation, key, path=path) for path in paths]
    if "requestBody" in operation.definition:
        return [write(operation, key, name="One"), write(operation, key, name="Another")]
    other_path = LAST_ID.sub(r"{another_\1}", operation.path)
    return [good_ask(operation, key, path=other_path), good_ask(operation, key)]


# Errors of requests that match no operation.
NOWHERE = {
    "malformed_request": Ask("GET", "/%zz"),
    "not_found": Ask("GET", "/nowhere"),
    "method_not_allowed": Ask("DELETE", "/api/monitors"),
}

# Maps the name of an error to requests to an operation with this error. The last request provokes it.
PROVOCATIONS: dict[str, Callable[[Operation], list[Ask]]] = {
    # Errors of any operation
    "malformed_request": lambda operation: [good_ask(operation, query="?%zz")],
    "invalid_field": lambda operation: [good_ask(operation, query="?unknown=1")],
    "malformed_json": lambda operation: [good_ask(operation, body=b"{")],
    "body_required": lambda operation: [good_ask(operation, body=b"")],
    "body_too_large": lambda operation: [
        good_ask(operation, f"Content-Length: {MAX_BODY_BYTES + 1}", body=b"")
    ],
    "unsupported_media_type": lambda operation: [good_ask(operation, "Content-Type: text/plain")],
    "internal_error": lambda operation: [good_ask(operation)],
    "service_unavailable": lambda operation: [good_ask(operation)],
    "not_found": lambda operation: [good_ask(operation, path="/docs/nothing")],
    "rate_limited": lambda operation: [good_ask(operation, "X-Webhook-Secret: a-wrong-one")] * 2,
    # Tokens and keys
    "authorization_missing": lambda operation: [good_ask(operation, "Authorization: Basic eDp4")],
    "token_invalid": lambda operation: [good_ask(operation, f"{ALICE}x")],
    "api_key_invalid": lambda operation: [good_ask(operation, REVOKED)],
    "insufficient_permissions": lack_the_scope,
    "oauth_another_clients_token": lambda operation: [send_form(operation, "token={another_token}")],
    "oauth_body_required": lambda operation: [good_ask(operation, BASIC, body=b"")],
    "oauth_invalid_client": lambda operation: [good_ask(operation, MIXED_UP, body=b"token=a")],
    "oauth_invalid_field": lambda operation: [good_ask(operation, body=b"client_id=a&client_id=a")],
    "oauth_invalid_scope": lambda operation: [send_form(operation, "scope=monitors:own")],
    "oauth_malformed_form": lambda operation: [good_ask(operation, body=b"client_id=%zz")],
    "oauth_malformed_request": lambda operation: [good_ask(operation, query="?%zz")],
    "oauth_two_authentications": lambda operation: [send_form(operation, "token=a&client_secret=a")],
    "oauth_unsupported_media_type": lambda operation: [good_ask(operation, "Content-Type: application/json")],
    "oauth_unsupported_grant_type": lambda operation: [send_form(operation, "grant_type=password")],
    # Monitors
    "dns_record_unreadable": lambda operation: [
        write_dns(operation, record_type="MX", expected=["mail.example.com"])
    ],
    "dns_resolver_refused": lambda operation: [write_dns(operation, resolver="169.254.169.254")],
    "idempotency_key_reused": use_a_key_twice,
    "article_changed": lambda operation: [depend(operation, '"0"')],
    "maintenance_window_changed": lambda operation: [depend(operation, '"0"')],
    "monitor_changed": lambda operation: [depend(operation, '"0"')],
    "notification_channel_changed": lambda operation: [depend(operation, '"0"')],
    "weak_entity_tag": lambda operation: [depend(operation, 'W/"1"')],
    "monitor_contradicted": lambda operation: [write(operation, request_body="a")],
    "monitor_limit_reached": lambda operation: write_many(operation, 6),  # five exist already
    "monitor_not_found": ask_for_nothing,
    "monitor_type_kept": lambda operation: (
        [write(operation, type="tcp")]
        if operation.method == "patch"
        else write_after(operation, type="tcp", url="tcp://a.example:1")
    ),
    "key_taken": take_the_key,
    "monitor_exists": lambda operation: write_after(operation, "If-None-Match: *"),
    "notification_channel_exists": lambda operation: write_after(operation, "If-None-Match: *"),
    "maintenance_window_exists": lambda operation: write_after(operation, "If-None-Match: *"),
    "ping_not_offered": lambda operation: [write(operation, type="ping", url="ping://a.example")],
    "request_header_masked": lambda operation: [
        write(operation, request_headers={"Authorization": "********"})
    ],
    "request_headers_too_many": fill_with_headers,
    "assertion_path_unreadable": lambda operation: [write(operation, assertions=[{**OF_JSON, "path": "$."}])],
    "assertion_path_costly": lambda operation: [
        write(operation, assertions=[{**OF_JSON, "path": "$..a..b"}])
    ],
    "assertion_pattern_unreadable": lambda operation: [
        write(operation, assertions=[{"source": "body", "comparison": "matches", "value": "(?=a)"}])
    ],
    "certificate_authority_unreadable": lambda operation: [write(operation, certificate_authority="a")],
    "contract_document_not_fetched": lambda operation: [
        write(operation, contract={"document_url": "http://127.0.0.1/", "operation_id": "a"})
    ],
    "contract_unreadable": lambda operation: [write_contract(operation, {"openapi": "2.0"})],
    "contract_too_large": lambda operation: [
        write_contract(operation, {"openapi": "3.1.0", "paths": [0] * 200_000})
    ],
    "contract_reference_outside": lambda operation: [
        write_contract(operation, make_promise({"$ref": "other.yaml#/a"}))
    ],
    "contract_operation_unknown": lambda operation: [
        write_contract(operation, make_promise({}), operation_id="b")
    ],
    "contract_method": lambda operation: [write_contract(operation, OF_POST)],
    "contract_parameter_missing": lambda operation: [
        write_contract(operation, make_promise({}), parameters={})
    ],
    "contract_incomplete": lambda operation: [write(operation, contract={"operation_id": "a"})],
    "contract_authorization_masked": lambda operation: [
        write(operation, contract={"operation_id": "a", "document_authorization": "********"})
    ],
    "client_certificate_masked": lambda operation: [write(operation, client_certificate="********")],
    "client_certificate_unreadable": lambda operation: [write(operation, client_certificate="a")],
    # Checks
    "monitor_paused": rest_before("/api/monitors/{monitor_id}", paused=True),
    # Heartbeats
    "cron_unreadable": lambda operation: schedule(operation, cron="60 * * * *"),
    "cron_never_comes": lambda operation: schedule(operation, cron="0 0 */8 2 MON#5"),
    "heartbeat_time_zone_unknown": lambda operation: schedule(
        operation, cron="0 3 * * *", time_zone="Mars/Olympus"
    ),
    "heartbeat_not_asked": lambda operation: [good_ask(operation, path=of_heartbeat(operation))],
    "heartbeat_not_found": lambda operation: [
        good_ask(operation, path=operation.path.replace("{token}", "{nothing}"))
    ],
    "monitor_takes_no_pings": lambda operation: [good_ask(operation)],
    "rid_unreadable": lambda operation: [good_ask(operation, query="?rid=1")],
    # Incidents and notifications
    "incident_resolved": lambda operation: [
        good_ask(operation, path=operation.path.replace("{incident_id}", "{resolved_incident_id}"))
    ],
    "incident_note_limit_reached": lambda operation: [
        good_ask(operation, path=operation.path.replace("{incident_id}", "{resolved_incident_id}"))
    ],
    "incident_not_found": ask_for_nothing,
    "sandbox_only": lambda operation: [bear(operation, "alice")],
    "sandbox_incident_impossible": lambda operation: [
        good_ask(operation, body=b'{"monitor_id": "{paused_monitor_of_tess}"}')
    ],
    "maintenance_window_not_found": ask_for_nothing,
    "maintenance_window_ended": lambda operation: [
        good_ask(
            operation,
            path=operation.path.replace("{window_id}", "{ended_window_id}").replace("{key}", "over"),
        )
    ],
    "maintenance_window_limit_reached": lambda operation: write_many(operation, 99),  # two exist already
    "recurrence_unreadable": lambda operation: [write(operation, recurrence="FREQ=SECONDLY")],
    "recurrence_too_often": lambda operation: [
        write(operation, recurrence="FREQ=DAILY", duration_seconds=90_000)
    ],
    "recurrence_over": lambda operation: [write(operation, recurrence="FREQ=DAILY;UNTIL=20200101")],
    "quiet_hours_time_zone_unknown": lambda operation: [
        write(operation, routing={"quiet_hours": NOBODYS_HOURS})
    ],
    "time_zone_unknown": lambda operation: [write(operation, time_zone="Mars/Olympus")],
    "maintenance_over": lambda operation: [write(operation, starts_at=write_timestamp(YESTERDAY))],
    "maintenance_starts_too_early": lambda operation: [write(operation, starts_at="2020-01-01T00:00:00Z")],
    "maintenance_monitor_unknown": lambda operation: [write(operation, monitor_ids=[NOBODYS_ID])],
    "notification_channel_not_found": ask_for_nothing,
    "notification_delivery_not_found": ask_for_nothing,
    "notification_channel_disabled": rest_before(
        "/api/notification-channels/{channel_id}", type="webhook", enabled=False
    ),
    "notification_channel_not_examinable": lambda operation: [
        good_ask(operation, path=operation.path.replace("{channel_id}", "{email_channel_id}"))
    ],
    "notification_channel_unconfirmed": lambda operation: [
        good_ask(
            operation,
            path=operation.path.replace("{channel_id}", "{email_channel_id}").replace(
                "{delivery_id}", "{email_delivery_id}"
            ),
        )
    ],
    "email_not_configured": lambda operation: [
        good_ask(operation, body=b'{"type": "email", "address": "ops@example.com"}')
    ],
    "notification_channel_target_refused": lambda operation: [
        write(operation, url="http://169.254.169.254/")
    ],
    "notification_channel_type_fixed": lambda operation: (
        [write(operation, type="slack")]
        if operation.method == "patch"
        else write_after(operation, type="slack", url="https://hooks.slack.com/services/a")
    ),
    "notification_channel_incomplete": lambda operation: [good_ask(operation, body=b'{"type": "webhook"}')],
    "notification_channel_body_too_large": lambda operation: (
        [
            replace(
                write(operation, type="custom", body={name: "a" * 600_000}),
                path="/api/notification-channels/{custom_channel_id}",
            )
            for name in ("one", "other")
        ]
        if operation.method == "patch"
        else [good_ask(operation, body=LONGER_WHEN_STORED)] * 2
    ),
    "notification_channel_limit_reached": lambda operation: write_many(operation, 17),  # four exist already
    # Articles
    "article_not_found": lambda operation: [
        good_ask(operation, path=operation.path.replace("{article_id}", "{nothing}"))
    ],
    "text_not_read": lambda operation: [
        good_ask(operation, body=b'{"article": {"id": 1, "blocks": ["One that fits beats one that shines"]}}')
    ],
    "article_empty": lambda operation: [good_ask(operation, body=b'{"article": {"id": "nobody\'s"}}')],
    "articles_not_shared": lambda operation: [bear(operation, "outsider")],
    "correction_codes_broken": lambda operation: [
        good_ask(
            operation,
            path=operation.path.replace("{article_id}", "{stored_article_id}"),
            body=b'{"text": "<g1>Zapatos</g1>"}',
        )
    ],
    "segment_not_found": lambda operation: [
        good_ask(operation, path=operation.path.replace("{segment_id}", "{nothing}"))
    ],
    "blog_storage_not_configured": lambda operation: [good_ask(operation)],
    "translation_not_found": lambda operation: [
        good_ask(operation, path=operation.path.replace("{locale}", "0"))
    ],
    "webhook_secret_invalid": lambda operation: [good_ask(operation, "X-Webhook-Secret: a-wrong-one")],
    "ghost_signature_unreadable": lambda operation: [bear_signature(operation, "sha256=0")],
    "ghost_signature_expired": lambda operation: [
        bear_signature(operation, f"sha256={'0' * 64}, t={1000 * int(YESTERDAY.timestamp())}")
    ],
    "ghost_signature_invalid": lambda operation: [
        bear_signature(operation, f"sha256={'0' * 64}, t={1000 * int(time.time())}")
    ],
    "outrank_token_invalid": lambda operation: [bear(operation, "alice")],
    "webhook_secret_not_configured": lambda operation: [good_ask(operation)],
}
