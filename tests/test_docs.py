"""Tests the documentation as it is served. Runs each of its samples, with a reader's values inserted."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from cast import Player, form_readers
from incidents.breakdowns import open_incident
from monitoring.auth.sandboxes import open_sandbox
from monitoring.auth.scopes import SCOPES
from monitoring.backends.encryption import decrypt
from monitoring.contract.document import published_document
from monitoring.incidents.models import Incident
from monitoring.monitors.heartbeats.models import Heartbeat
from monitoring.monitors.maintenance.service import create_window
from monitoring.monitors.service import create_monitor
from monitoring.notifications.deliveries import queue_test
from monitoring.notifications.service import create_channel
from monitoring.reference.pages import CONTENT_SECURITY_POLICY, list_guides
from monitoring.reference.samples import write_samples
from running_service import WEBHOOK_SECRET

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    import httpx
    from tortoise.models import Model

    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

SAME = pytest.mark.embedded("what a page shows, and what a sample sends, is the same on every backend")
IN_OTHER_LANGUAGES = pytest.mark.night("curl's samples are made of the same requests")

DOCUMENT = published_document()
HEARTBEAT = {"type": "heartbeat", "heartbeat": {"period_seconds": 60}}
COMMANDS = {
    "curl": ["bash", "-c"],
    "Python": [sys.executable, "-c"],
    "TypeScript": ["node", "--input-type=module", "-e"],  # because the samples are also valid JavaScript
}


@SAME
@pytest.mark.parametrize("path", ["/docs", *(f"/docs/{name}" for name in list_guides(DOCUMENT))])
def test_a_page_is_served_to_anybody_under_the_strict_policy(path: str, mallory: httpx.Client) -> None:
    answer = mallory.get(path)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Content-Security-Policy"] == CONTENT_SECURITY_POLICY
    assert answer.text.startswith("<!doctype html>")


@SAME
@pytest.mark.parametrize("path", ["/docs/", "/docs/nothing", "/docs/quick-start.md", "/docs/..%2Fsettings"])
def test_no_other_page_is_served(path: str, mallory: httpx.Client, catalogue: Catalogue) -> None:
    answer = mallory.get(path)
    assert (answer.status_code, answer.json()) == (404, catalogue.templates["not_found"].body)


@pytest.fixture
def owner(service: RunningService, operation_id: str) -> Iterator[Player]:
    """Yield a client that may do everything, and read articles.

    For sandbox operations, its key is a test key.
    """
    team = form_readers(service)
    if DOCUMENT.operations[operation_id].room == "sandbox":
        team = service.run(open_sandbox(team.id))
    with Player(service, team, SCOPES) as player:
        yield player


@pytest.mark.parametrize(
    "language",
    [
        pytest.param("curl", marks=pytest.mark.programs("curl")),  # every operation, on all backends
        pytest.param("Python", marks=[SAME, IN_OTHER_LANGUAGES]),
        pytest.param("TypeScript", marks=[SAME, IN_OTHER_LANGUAGES, pytest.mark.programs("node")]),
    ],
)
@pytest.mark.parametrize("operation_id", DOCUMENT.operations)
def test_a_sample_runs(
    operation_id: str, language: str, service: RunningService, owner: Player, publisher: httpx.Client
) -> None:
    operation = DOCUMENT.operations[operation_id]
    (sample,) = (item for item in write_samples(DOCUMENT, operation) if item.language == language)
    run = subprocess.run(
        [
            *COMMANDS[language],
            with_values(
                sample.code.replace("curl ", "curl -sS --fail-with-body "), service, owner, publisher
            ),
        ],
        env={
            "PATH": os.environ["PATH"],
            "URL": service.base_url,
            "TOKEN": owner.headers["Authorization"].removeprefix("Bearer "),
            "SECRET": WEBHOOK_SECRET,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    successes = [answer for status, answer in operation.responses.items() if status.startswith("2")]
    assert run.stdout.strip() or not any("content" in answer for answer in successes)


def with_values(code: str, service: RunningService, owner: Player, publisher: httpx.Client) -> str:
    """Insert a reader's values into a sample: ids of existing resources, and the reader's own credentials."""
    credentials = DOCUMENT.root["components"]["schemas"]["TokenRequest"]["properties"]
    values = {
        credentials["client_id"]["examples"][0]: owner.client_id,
        credentials["client_secret"]["examples"][0]: owner.client_secret,
    }
    parameters = [each for operation in DOCUMENT.operations.values() for each in operation.parameters]
    examples = [(each["name"], each["example"]) for each in parameters if "example" in each]
    named = {name: example for name, example in examples if str(example) in code}
    is_about_pings = "ping" in code
    ids = service.run(create_things(owner.team_id, {*named}, is_about_pings=is_about_pings))
    if "article_id" in named:
        article = {"title": "How to choose running shoes"}
        delivered = publisher.post("/api/webhooks/publisher", json={"article": article}).json()
        ids["article_id"] = delivered["article_id"]
    values |= {named[name]: value for name, value in ids.items() if name in named}
    for example, value in values.items():
        code = code.replace(example, value)
    return code


async def create_things(team_id: UUID, named: set[str], *, is_about_pings: bool = False) -> dict[str, str]:
    """Create the resources that these parameters name, and their prerequisites.

    Return ids by the names of parameters.
    """
    things: dict[str, Model] = {}
    address = {"url": "https://a.example/"}
    if named & {"monitor_id", "incident_id"}:
        things["monitor_id"] = monitor = await create_monitor(team_id, address)
        if "incident_id" in named:
            now = monitor.created_at
            await open_incident(
                monitor, started_at=now, confirmed_at=now, error="timeout", error_message="No answer"
            )
            things["incident_id"] = await Incident.get(monitor_id=monitor.id)
    ids: dict[str, str] = {}
    if ("monitor_id" in named and is_about_pings) or "token" in named:
        heartbeat = await create_monitor(team_id, HEARTBEAT)
        things["monitor_id"] = heartbeat
        ids["token"] = decrypt((await Heartbeat.get(monitor_id=heartbeat.id)).encrypted_token)
    if "window_id" in named:
        things["window_id"] = await create_window(team_id, {"duration_seconds": 600})
    if named & {"channel_id", "delivery_id"}:
        things["channel_id"] = channel = await create_channel(team_id, {"type": "webhook", **address})
        if "delivery_id" in named:
            things["delivery_id"] = await queue_test(team_id, channel.id)
    return ids | {name: str(thing.pk) for name, thing in things.items()}
