"""Tests that every documented error can be provoked at its operation, and is correct to the byte."""

from __future__ import annotations

import base64
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

import chosen_backends
import promises
from cast import form_readers, form_team
from exact_errors import demand_exactly, find_error
from incidents.breakdowns import open_incident
from monitoring.articles.models import Article, Translation, TranslationStatus
from monitoring.articles.translation.translated_segments import segment_hash
from monitoring.auth.sandboxes import open_sandbox
from monitoring.auth.scopes import SCOPES
from monitoring.auth.service import create_key, revoke_key
from monitoring.auth.tokens import sign_token
from monitoring.backends.encryption import decrypt
from monitoring.incidents.models import Incident, IncidentNote
from monitoring.incidents.responding import MAX_NOTES
from monitoring.monitors.heartbeats.models import Heartbeat
from monitoring.monitors.maintenance.service import create_window, end_window
from monitoring.monitors.service import create_monitor
from monitoring.notifications.announcing import make_delivery
from monitoring.notifications.configuration import columns_of
from monitoring.notifications.deliveries import queue_test
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.routing import Announcement
from monitoring.notifications.service import create_channel
from monitoring.web.endpoint import Endpoint
from promises import DOCUMENT, OPERATIONS
from provocations import NOWHERE, PROVOCATIONS, Ask, good_ask
from real_servers import running_postgres
from running_service import RunningService, running_service
from spoken_errors import CATALOGUE, SUCCESS, documented_answers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from uuid import UUID

Stage = tuple[RunningService, dict[str, str]]  # the service, and the {words} of provocations

MAX_MONITORS = 10  # as in the document's example
LIMIT = "1/12"  # as the example's wait is 12 seconds
LONG_AGO = datetime(2026, 11, 20, 9, 40, tzinfo=UTC)

# The settings that a service needs to return these errors.
SETTINGS: dict[str, dict[str, Any]] = {
    "blog_storage_not_configured": {"blog_storage_url": None},
    "email_not_configured": {"smtp_url": None, "email_from": None},
    "rate_limited": dict.fromkeys(
        ["rate_limit_api", "rate_limit_token", "rate_limit_webhook_failures", "rate_limit_pings"], LIMIT
    ),
    "webhook_secret_not_configured": {"webhook_secrets": None},
    **{
        f"ghost_signature_{wrong}": {"ghost_webhook_secrets": "a-secret-of-ghosts-webhook"}
        for wrong in ("unreadable", "expired", "invalid")
    },
    "ping_not_offered": {"ping_monitors": False},
    "outrank_token_invalid": {"outrank_access_tokens": "an-access-token-of-outrank"},
}

RESPONSES = DOCUMENT.root["components"]["responses"]
RESPONSES_OF_NO_OPERATION = {str(node["x-status"]): node for node in RESPONSES.values() if "x-status" in node}
RESPONSES_OF_NO_OPERATION["400"] = RESPONSES["BadRequest"]

# The requests for `invalid_field` have an unknown parameter.
UNKNOWN_PARAMETER = {
    "field": "unknown",
    "problem": DOCUMENT.root["x-problem-templates"]["additionalProperties"],
}


def every_error() -> Iterator[Any]:
    for operation_id, _, name in documented_answers():
        needs_servers = name == "service_unavailable" and not stands_on_the_blog(operation_id)
        marks = [pytest.mark.production("SQLite is never away")] if needs_servers else []
        if name == "internal_error":
            marks.append(pytest.mark.traceback_expected("operators are to find what was unforeseen"))
        if name != SUCCESS:
            yield pytest.param(operation_id, name, marks=marks)


def stands_on_the_blog(operation_id: str) -> bool:
    return "blog_storage_not_configured" in str(OPERATIONS[operation_id].responses.get("503"))


def is_counted_by_key(operation_id: str) -> bool:
    """Return whether a rate limit counts requests per key, so that the test needs an unused key."""
    return bool(OPERATIONS[operation_id].definition["security"] == [{"bearerAuth": []}])


@pytest.fixture(scope="module")
def ordinary_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("ordinary")) as service:
        yield service


@pytest.fixture(scope="module")
def limited_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("limited"), **SETTINGS["rate_limited"]) as service:
        yield service


@pytest.fixture(scope="module")
def ordinary_scene(ordinary_service: RunningService) -> dict[str, str]:
    """Set up one scene for all errors that a single request provokes. A refused request changes nothing."""
    return set_scene(ordinary_service)


@pytest.fixture(scope="module")
def stage_without_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Set up a scene, then stop PostgreSQL."""
    with running_postgres() as server:
        folder = tmp_path_factory.mktemp("without-database")
        with running_service(folder, database_url=server.create_database()) as service:
            scene = set_scene(service)
            server.stop()
            yield service, scene


@pytest.fixture
def stage(operation_id: str, name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """Yield a service that is configured to return this error, and the scene with its callers."""
    if name == "service_unavailable" and not stands_on_the_blog(operation_id):
        yield request.getfixturevalue("stage_without_database")
    elif name == "service_unavailable":
        with running_service(tmp_path) as service, chosen_backends.blog_storage_away(tmp_path):
            yield service, set_scene(service)
    elif name == "rate_limited" and is_counted_by_key(operation_id):
        service = request.getfixturevalue("limited_service")
        yield service, set_scene(service)
    elif name in SETTINGS:
        with running_service(tmp_path, **SETTINGS[name]) as service:
            yield service, set_scene(service)
    else:
        if name == "internal_error":
            request.getfixturevalue("monkeypatch").setattr(Endpoint, "__call__", break_down)
        service = request.getfixturevalue("ordinary_service")
        if len(requests_for(operation_id, name)) > 1:
            yield service, set_scene(service)
        else:
            yield service, request.getfixturevalue("ordinary_scene") | {"fresh_key": str(uuid4())}


def requests_for(operation_id: str, name: str) -> Sequence[Ask]:
    """Return requests, the last of which provokes the error."""
    operation = OPERATIONS.get(operation_id)
    return PROVOCATIONS[name](operation) if operation else [NOWHERE[name]]


async def break_down(*_: object) -> None:
    """Raise an exception that no code expects."""
    raise ZeroDivisionError


def set_scene(service: RunningService) -> dict[str, str]:
    """Set up Alice's team with several keys, one of which is revoked, and two resources of each kind."""
    team = form_readers(service, MAX_MONITORS)
    alice, revoked = (service.run(create_key(team, "A key", SCOPES)) for _ in range(2))
    outsider = service.run(create_key(form_team(service), "A key", SCOPES))
    service.run(revoke_key(revoked.key.client_id))
    sandbox = service.run(open_sandbox(team.id))
    tess = service.run(create_key(sandbox, "A test key", SCOPES))
    watched, paused = (
        service.run(create_monitor(sandbox.id, {"url": "https://up.test/", "paused": is_paused}))
        for is_paused in (False, True)
    )

    def sign(client_id: str, scopes: Sequence[str] = SCOPES) -> str:
        return sign_token(service.settings, client_id, scopes, now_seconds=int(time.time()))

    def bear(client_id: str, scopes: Sequence[str] = SCOPES) -> str:
        return f"Bearer {sign(client_id, scopes)}"

    return {
        "alice": bear(alice.key.client_id),
        "alice_basic": write_basic(alice.key.client_id, alice.client_secret),
        "alice_mixed_up": write_basic(alice.key.client_id, revoked.client_secret),
        "tess": bear(tess.key.client_id),
        "monitor_of_tess": str(watched.id),
        "paused_monitor_of_tess": str(paused.id),
        "reader": bear(alice.key.client_id, ["monitors:read"]),
        "writer": bear(alice.key.client_id, ["monitors:write"]),
        "outsider": bear(outsider.key.client_id),
        "revoked": bear(revoked.key.client_id),
        "another_token": sign(revoked.key.client_id),
        **service.run(create_things(team.id)),
        "article_id": str(uuid4()),
        "locale": "es",
        "segment_id": segment_hash("Shoes"),
        "nothing": str(uuid4()),
        "guide": "quick-start",
        "fresh_key": str(uuid4()),
        "key": "taken",
    }


async def create_things(team_id: UUID) -> dict[str, str]:
    """Create resources, and return a ping token and the ids of monitors, channels, deliveries and others."""
    address = {"url": "https://a.example/"}
    monitor, other_monitor = [await create_monitor(team_id, address) for _ in range(2)]
    dns_monitor = await create_monitor(team_id, {"type": "dns", "url": "dns://a.example"})
    schedule = {"type": "heartbeat", "heartbeat": {"period_seconds": 60}}
    heartbeat, other_heartbeat = [await create_monitor(team_id, schedule) for _ in range(2)]
    token = decrypt((await Heartbeat.get(monitor_id=heartbeat.id)).encrypted_token)
    channel, other_channel = [await create_channel(team_id, {"type": "webhook", **address}) for _ in range(2)]
    keys = (None, None, "over")
    windows = [await create_window(team_id, {"duration_seconds": 600}, key=key) for key in keys]
    window, other_window, ended_window = windows
    await end_window(team_id, ended_window.id)
    custom = await create_channel(team_id, {"type": "custom", "body": {}, **address})
    email, told = await create_email_channel(team_id)
    delivery, other_delivery = [await queue_test(team_id, channel.id) for _ in range(2)]
    failure: dict[str, Any] = {"confirmed_at": LONG_AGO, "error": "timeout", "error_message": "No answer"}
    for broken in (monitor, other_monitor):
        await open_incident(broken, started_at=LONG_AGO, **failure)
    incident, other_incident = [await Incident.get(monitor_id=each.id) for each in (monitor, other_monitor)]
    over = await Incident.create(
        team_id=team_id, monitor_id=monitor.id, started_at=LONG_AGO, resolved_at=LONG_AGO, **failure
    )
    note: dict[str, Any] = {
        "incident_id": over.id,
        "author": "Ana",
        "text": "It is slow",
        "created_at": LONG_AGO,
    }
    await IncidentNote.bulk_create([IncidentNote(**note) for _ in range(MAX_NOTES)])
    article = await Article.create(
        identity=str(uuid4()),
        slug=str(uuid4()),
        revision=1,
        content_hash="",
        payload={"article": {"title": "Shoes"}},
        tags=[],
        received_at=LONG_AGO,
        updated_at=LONG_AGO,
        nudged_at=LONG_AGO,
    )
    await Translation.create(
        article=article, locale="es", revision=1, status=TranslationStatus.FAILED, due_at=LONG_AGO
    )
    things = {
        "monitor_id": monitor,
        "another_monitor_id": other_monitor,
        "dns_monitor_id": dns_monitor,
        "heartbeat_id": heartbeat,
        "another_heartbeat_id": other_heartbeat,
        "window_id": window,
        "another_window_id": other_window,
        "ended_window_id": ended_window,
        "channel_id": channel,
        "another_channel_id": other_channel,
        "custom_channel_id": custom,
        "email_channel_id": email,
        "email_delivery_id": told,
        "delivery_id": delivery,
        "another_delivery_id": other_delivery,
        "incident_id": incident,
        "another_incident_id": other_incident,
        "resolved_incident_id": over,
        "stored_article_id": article,
    }
    return {"token": token, "exit_code": "0", **{name: str(thing.pk) for name, thing in things.items()}}


async def create_email_channel(team_id: UUID) -> tuple[NotificationChannel, NotificationDelivery]:
    """Create an unconfirmed email channel, and the delivery that was sent to its previous address."""
    now = datetime.now(UTC)
    channel = await NotificationChannel.create(
        team_id=team_id,
        name="Ops",
        secret="",
        created_at=now,
        updated_at=now,
        **columns_of(
            {"type": "email", "address": "ops@example.com", "events": ["incident.opened"], "enabled": True}
        ),
    )
    test = Announcement(team_id=team_id, event="test", happened_at=now, subject={})
    delivery = make_delivery(test, channel.id)
    delivery.due_at = None
    await delivery.save()
    return channel, delivery


def write_basic(client_id: str, client_secret: str) -> str:
    return base64.b64encode(f"{client_id}:{client_secret}".encode()).decode()


def test_every_error_has_a_provocation() -> None:
    assert PROVOCATIONS.keys() | NOWHERE.keys() == CATALOGUE.templates.keys()


@pytest.mark.parametrize(("operation_id", "name"), list(every_error()))
def test_the_service_says_it_as_written(operation_id: str, name: str, stage: Stage) -> None:
    service, scene = stage
    operation = OPERATIONS.get(operation_id)
    *before, last = requests_for(operation_id, name)
    for earlier in before:
        assert earlier.of(service, scene).status != CATALOGUE.templates[name].status
    answer = last.of(service, scene)
    promises.judge(answer, operation.responses if operation else RESPONSES_OF_NO_OPERATION)
    said = CATALOGUE.respond(name, values=UNKNOWN_PARAMETER).body if name == "invalid_field" else None
    demand_exactly(answer, find_error(operation, name), last.path, service.settings, said)


def test_the_field_that_is_missing_is_named_as_in_the_example(ordinary_service: RunningService) -> None:
    deliver = next(each for each in OPERATIONS.values() if each.path == "/api/webhooks/publisher")
    answer = good_ask(deliver, body=b"{}").of(ordinary_service, {})
    assert (answer.status, answer.json) == (400, CATALOGUE.templates["invalid_field"].body)


def test_unknown_query_parameters_are_refused_by_all_but_the_lenient() -> None:
    refusing = {operation_id for operation_id, _, name in documented_answers() if name == "invalid_field"}
    lenient = {name for name, each in OPERATIONS.items() if each.definition.get("x-lenient-parameters")}
    assert refusing == OPERATIONS.keys() - lenient
    pings = {name for name, each in OPERATIONS.items() if each.path.startswith("/ping/")}
    assert lenient == {"issue_token", "introspect_token", "revoke_token", *pings}


def test_a_lenient_operation_does_not_see_unknown_query_parameters(ordinary_service: RunningService) -> None:
    scene = set_scene(ordinary_service)
    ask = good_ask(OPERATIONS["issue_token"], "Authorization: Basic {alice_basic}", body=b"")
    for query in ("", "?unknown=1"):
        assert replace(ask, query=query).of(ordinary_service, scene).status == 200


def test_a_team_that_asks_for_many_checks_is_told_when_to_come_back(tmp_path: Path) -> None:
    check = OPERATIONS["check_monitor_now"]
    other_check = good_ask(check, path="/api/monitors/{another_monitor_id}/check")
    with running_service(tmp_path, rate_limit_check_now=LIMIT) as service:
        scene = set_scene(service)
        assert good_ask(check).of(service, scene).status == 202
        answer = other_check.of(service, scene)
        promises.judge(answer, check.responses)
        demand_exactly(answer, find_error(check, "rate_limited"), other_check.path, service.settings)
        assert good_ask(OPERATIONS["get_monitor"]).of(service, scene).status == 200
        assert good_ask(check).of(service, set_scene(service)).status == 202


# Reading a translation is tested in its own journey.
CONDITIONAL = [
    name
    for name, operation in OPERATIONS.items()
    if operation.room != "web" and "304" in operation.responses and name != "get_article_translation"
]


@pytest.mark.parametrize("operation_id", CONDITIONAL)
def test_what_the_client_has_is_not_sent_again(
    operation_id: str, ordinary_service: RunningService, ordinary_scene: dict[str, str]
) -> None:
    operation = OPERATIONS[operation_id]
    path = operation.path.replace("{article_id}", "{stored_article_id}")

    def read(*headers: str) -> promises.Answer:
        answer = good_ask(operation, *headers, path=path).of(ordinary_service, ordinary_scene)
        promises.judge(answer, operation.responses)
        return answer

    first = read()
    tag = first.headers["etag"]
    for known in (tag, f'"other", W/{tag}', "*"):
        again = read(f"If-None-Match: {known}")
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    stale = read('If-None-Match: "other"')
    assert (stale.status, stale.body) == (200, first.body)
