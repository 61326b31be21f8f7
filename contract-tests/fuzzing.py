"""Runs Schemathesis in a separate process against a running service, with the credentials of a role.

FUZZING_SEED repeats a run. FUZZING_EXAMPLES is the number of requests to generate for each operation.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from unittest.mock import patch
from uuid import UUID

import pytest
from hypothesis import settings
from hypothesis.configuration import storage_directory
from hypothesis.strategies import text

import chosen_backends
from cast import Player, form_readers, form_team
from monitoring import worker
from monitoring.articles.models import Article, Translation
from monitoring.auth.credentials import hash_secret
from monitoring.auth.models import ApiKey
from monitoring.auth.sandboxes import open_sandbox
from monitoring.auth.scopes import DEFAULT_SCOPES, SCOPES
from monitoring.auth.service import revoke_key
from monitoring.backends.encryption import encrypt
from monitoring.incidents.models import Incident
from monitoring.monitors.check_state import begin_checks
from monitoring.monitors.contracts import preparing
from monitoring.monitors.contracts.fetching import UnfetchedDocumentError
from monitoring.monitors.heartbeats.models import Heartbeat
from monitoring.monitors.heartbeats.tokens import hash_token
from monitoring.monitors.maintenance import service as maintenance_service
from monitoring.monitors.service import create_monitor
from monitoring.notifications import deliveries, exams
from monitoring.notifications import service as notification_service
from monitoring.notifications.deliveries import queue_test
from monitoring.notifications.service import create_channel
from promises import EXAMPLE_IDS, OPERATIONS, PUBLISHED
from running_service import WEBHOOK_SECRET, RunningService, running_service

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).parent
TESTS = HERE.parent / "tests"
PUBLISHED_CONFIG = PUBLISHED.parent / "src" / "monitoring" / "schemathesis.toml"
EXAMPLES = int(os.environ.get("FUZZING_EXAMPLES", settings().max_examples))  # fewer with --gate
IS_WHOLE = "FUZZING_EXAMPLES" in os.environ
# These operations take the same bodies as create_notification_channel. The nightly run covers them as well.
SAID_TWICE = ("put_notification_channel_by_key", "update_notification_channel")
TIMEOUT_SECONDS = 800 + 5 * EXAMPLES
QUICKLY = {
    "no_proxy": "127.0.0.1",  # avoids reading the proxy settings for each request
    "SCHEMATHESIS_HOOKS": "quick_fuzzing",
    "PYTHONPATH": os.pathsep.join(map(str, [HERE, TESTS, *sys.path])),  # the same imports as in this process
}
MANY = 1_000_000  # for limits, which would otherwise hide all other results

ADDRESS = {"url": "https://shop.example.com/"}


@dataclass(frozen=True, slots=True)
class Role:
    """The credentials of a fuzzing run: the scopes of its key, and a webhook secret."""

    name: str
    scopes: Sequence[str] = ()
    is_revoked: bool = False
    is_test: bool = False
    webhook_secret: str = WEBHOOK_SECRET

    @property
    def permissions(self) -> str:
        """The role's permissions, in the format that fuzzing_checks.py reads."""
        scopes = () if self.is_revoked else self.scopes
        return " ".join(
            [*scopes, *(["webhook"] if self.webhook_secret in {WEBHOOK_SECRET, TEST_SECRET} else [])]
        )


FULL_KEY = Role("full key", SCOPES)
TEST_SECRET = "a-test-secret-of-the-contract-tests"
# Sandboxes have no articles.
TEST_KEY = Role("test key", DEFAULT_SCOPES, is_test=True, webhook_secret=TEST_SECRET)
WRONG_SECRET = "a-wrong-webhook-secret"
ROLES = [
    FULL_KEY,
    Role("read-only key", ["monitors:read", "articles:read"]),
    Role(
        "write-only key and a wrong secret", ["monitors:write", "articles:write"], webhook_secret=WRONG_SECRET
    ),
    Role("revoked key", SCOPES, is_revoked=True),
    Role("nothing", webhook_secret=""),
    TEST_KEY,
]


@contextmanager
def fuzzed_service(folder: Path, **changes: Any) -> Iterator[RunningService]:
    """Start a service that sends no notifications, because generated URLs may belong to somebody.

    By default, all networks are allowed, so that the service does not reject most generated URLs.
    """
    give_tables_of_characters(folder)
    changes = {"allowed_networks": ("0.0.0.0/0", "::/0"), "sweep_interval_seconds": 10, **changes}
    with (
        patch.object(worker, "open_sender", lambda _: nullcontext()),
        patch.object(deliveries, "TEST_PATIENCE", timedelta(0)),  # no worker makes the attempt
        patch.object(exams, "PATIENCE", timedelta(0)),
        patch.object(preparing, "fetch_rules", _fetch_nothing),
        patch.object(notification_service, "MAX_CHANNELS_A_TEAM", MANY),
        patch.object(maintenance_service, "MAX_WINDOWS_A_TEAM", MANY),
        running_service(folder, **changes) as service,
    ):
        yield service


@contextmanager
def sandboxed_service(folder: Path, **changes: Any) -> Iterator[RunningService]:
    """Start a service that checks and notifies. A sandbox connects to nobody, so any URL may be used."""
    give_tables_of_characters(folder)
    open_to_all = {
        "allowed_networks": ("0.0.0.0/0", "::/0"),
        "checks_at_once": 20,
        "webhook_test_secrets": TEST_SECRET,
        **changes,
    }
    with (
        patch.object(notification_service, "MAX_CHANNELS_A_TEAM", MANY),
        patch.object(maintenance_service, "MAX_WINDOWS_A_TEAM", MANY),
        running_service(folder, **open_to_all) as service,
    ):
        yield service


async def _fetch_nothing(*_: object) -> NoReturn:
    """Fetch no document, because generated URLs may belong to somebody."""
    raise UnfetchedDocumentError("The host's name does not exist")


def give_tables_of_characters(folder: Path) -> None:
    """Copy Hypothesis's Unicode tables into the folder in which a fuzzing run will start.

    Otherwise, each run of Schemathesis would generate the tables again, which takes 1.5 seconds. Runs share
    nothing else.
    """
    text().validate()  # generates the tables if they do not exist
    kept = storage_directory("unicode_data")
    shutil.copytree(kept.path, folder / ".hypothesis" / kept.path.name, dirs_exist_ok=True)


def credentials_of(service: RunningService, role: Role) -> dict[str, str]:
    """Create the role's key and another team's key, and return them as fuzzing_checks.py reads them."""
    with Player(service, form_team(service)) as stranger:
        return {
            "FUZZING_PERMISSIONS": role.permissions,
            "MONITORING_TOKEN": fetch_token(service, role),
            "MONITORING_WEBHOOK_SECRET": role.webhook_secret,
            "FUZZING_STRANGER": stranger.headers["Authorization"],
        }


def fuzz(
    service: RunningService,
    role: Role,
    credentials: dict[str, str],
    *options: str,
    config: Path = PUBLISHED_CONFIG,
    trouble: str = "",
) -> None:
    """Run Schemathesis, and fail with its complete output if it reports anything.

    `options` are additional command line options of Schemathesis.
    """
    if settings.get_current_profile_name() == "gate":
        config = cover_once(config, service.settings.data_dir)
    phases = ["examples", "coverage", "fuzzing", "stateful"]
    if is_sample(role, trouble):
        phases.remove("coverage")
    if is_refused_everything(role, trouble) and not IS_WHOLE:
        phases.remove("stateful")  # no response has a link to follow
    effort = ["--max-examples", str(count_examples(role, trouble)), "--phases", ",".join(phases)]
    if chosen_backends.is_production() and trouble != "low limits" and not IS_WHOLE:
        effort += ["--mode", "positive"]  # invalid requests never reach a backend
    title = f"{chosen_backends.kind()}-{trouble or role.name}".replace(" ", "-")
    fuzzing = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", config),
            *("run", PUBLISHED, "--url", service.base_url),
            *("--seed", os.environ["FUZZING_SEED"], *effort, "--no-color"),
            *("--output-sanitize", "false"),  # the credentials are temporary, and the curl commands need them
            *report_as(title),
            *options,
        ],
        env=os.environ
        | credentials
        | {"FUZZING_URL": service.base_url, "FUZZING_TROUBLE": trouble}
        | QUICKLY
        | {"SCHEMATHESIS_HOOKS": "fuzzing_checks"},
        cwd=service.settings.data_dir,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    if fuzzing.returncode != 0:
        chosen = chosen_backends.kind()
        serve = f"make contract-serve ROLE={role.name!r} PORT={service.port} BACKENDS={chosen}"
        pytest.fail(f"{fuzzing.stdout}{fuzzing.stderr}\nServes the curl lines again: {serve}", pytrace=False)


def cover_once(config: Path, folder: Path) -> Path:
    """Write a configuration whose `coverage` phase skips operations with another operation's body."""
    once = folder / "schemathesis.toml"
    named = json.dumps(SAID_TWICE)
    left_out = f"[[operations]]\ninclude-operation-id = {named}\nphases.coverage.enabled = false\n"
    once.write_text(f"{config.read_text()}\n{left_out}")
    return once


def count_examples(role: Role, trouble: str) -> int:
    """Return how many requests a run generates for each operation."""
    if trouble or is_sample(role, trouble):
        return EXAMPLES // 4  # with failing backends, there is less to find
    # Random requests find the same problems with either kind of backend, so production gets only half as
    # many.
    return EXAMPLES // 2 if chosen_backends.is_production() and not IS_WHOLE else EXAMPLES


def is_sample(role: Role, trouble: str) -> bool:
    """Return whether a run sends only a sample of the requests.

    A run with the full key sends all of them, but with low limits only on one kind of backend. For other
    roles, requests are refused before the operation is reached. If FUZZING_EXAMPLES is set, every run sends
    everything.
    """
    is_elsewhere = trouble == "low limits" and chosen_backends.is_production()
    return (role != FULL_KEY or is_elsewhere) and not IS_WHOLE


def is_refused_everything(role: Role, trouble: str) -> bool:
    """Return whether every request of a run is refused, so that nothing is created, listed or read."""
    return not role.permissions or trouble in ("no database", "no secret")


def report_as(title: str) -> list[str]:
    """Return the options that write a JUnit report into the folder CONTRACT_REPORTS, if that is set."""
    folder = os.environ.get("CONTRACT_REPORTS")
    path = Path(folder or "").absolute() / f"junit-fuzzing-{title}.xml"
    return ["--report", "junit", "--report-junit-path", str(path)] if folder else []


def fetch_token(service: RunningService, role: Role) -> str:
    """Get a token from the token endpoint. Return "" for a role without scopes, because it has no key."""
    if not role.scopes:
        return ""
    team = form_readers(service, MANY)
    if role.is_test:
        team = service.run(open_sandbox(team.id))
    with Player(service, team, role.scopes) as player:
        if not role.is_test:  # the document's example has the credentials of a live key
            service.run(use_the_documents_credentials(player))
        service.run(create_the_documents_things(player.team_id))
        token = player.fetch_token()
        if role.is_revoked:
            service.run(revoke_key(player.client_id))
    return token


async def use_the_documents_credentials(player: Player) -> None:
    """Give the player's key the credentials of the document's example, because the fuzzer uses them."""
    form = next(iter(OPERATIONS["issue_token"].definition["requestBody"]["content"].values()))
    example = form["examples"]["credentials_in_the_form"]["value"]
    await ApiKey.filter(client_id=player.client_id).update(
        client_id=example["client_id"], secret_sha256=hash_secret(example["client_secret"])
    )
    player.client_id, player.client_secret = example["client_id"], example["client_secret"]


async def create_the_documents_things(team_id: UUID) -> None:
    """Create one resource of each kind with the id in the document's examples, which most requests use."""
    monitor = (await create_monitor(team_id, ADDRESS)).clone(pk=UUID(EXAMPLE_IDS["monitor_id"]))
    monitor.key = EXAMPLE_IDS["key"]
    await monitor.save(force_create=True)
    for row in begin_checks(monitor, monitor.created_at):
        await row.save()
    heartbeat = await create_monitor(team_id, {"type": "heartbeat", "heartbeat": {"period_seconds": 3600}})
    token = EXAMPLE_IDS["token"]
    await Heartbeat.filter(monitor_id=heartbeat.id).update(
        token_sha256=hash_token(UUID(token)), encrypted_token=encrypt(token)
    )
    window = await maintenance_service.create_window(team_id, {"duration_seconds": 3600})
    await window.clone(pk=UUID(EXAMPLE_IDS["window_id"])).save(force_create=True)
    channel = await create_channel(team_id, {"type": "webhook", **ADDRESS})
    channel = channel.clone(pk=UUID(EXAMPLE_IDS["channel_id"]))
    await channel.save(force_create=True)
    delivery = await queue_test(team_id, channel.id)
    await delivery.clone(pk=UUID(EXAMPLE_IDS["delivery_id"])).save(force_create=True)
    await Incident.create(
        id=UUID(EXAMPLE_IDS["incident_id"]),
        team_id=team_id,
        monitor_id=monitor.id,
        started_at=monitor.created_at,
        confirmed_at=monitor.created_at,
        error="unexpected_status",
        error_message="Answered 503 instead of 2xx",
    )
    now = monitor.created_at
    article = await Article.create(
        id=UUID(EXAMPLE_IDS["article_id"]),
        identity="the document's",
        slug="how-to-choose-running-shoes",
        revision=1,
        content_hash="",
        payload={"article": {"title": "How to choose running shoes"}},
        tags=[],
        received_at=now,
        updated_at=now,
        nudged_at=now,
    )
    await Translation.create(article=article, locale=EXAMPLE_IDS["locale"], revision=1, due_at=now)
