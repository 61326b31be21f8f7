"""Schemathesis in a process of its own, against a running service, as somebody in particular.

FUZZING_SEED repeats a run; FUZZING_EXAMPLES says how many requests are made up for each operation.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from uuid import UUID

import pytest

import engine_room
from cast import Player, form_team
from monitoring import worker
from monitoring.auth.credentials import hash_secret
from monitoring.auth.models import ApiKey
from monitoring.auth.scopes import SCOPES
from monitoring.auth.service import revoke_key
from monitoring.incidents.models import Incident
from monitoring.monitors.service import create_monitor
from monitoring.monitors.watching import begin_watch
from monitoring.notifications import service as notification_service
from monitoring.notifications.deliveries import queue_test
from monitoring.notifications.service import create_webhook
from promises import EXAMPLE_IDS, OPERATIONS, PUBLISHED
from running_service import WEBHOOK_SECRET, RunningService, running_service

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).parent
TESTS = HERE.parent / "tests"
EXAMPLES = int(os.environ.get("FUZZING_EXAMPLES", "100"))
TIMEOUT_SECONDS = 300 + 5 * EXAMPLES
MANY = 1_000_000  # limits that would hide everything behind them

ADDRESS = {"url": "https://shop.example.com/"}


@dataclass(frozen=True, slots=True)
class Role:
    """What somebody holds: a key's scopes, and a webhook secret."""

    name: str
    scopes: Sequence[str] = ()
    is_revoked: bool = False
    webhook_secret: str = WEBHOOK_SECRET

    @property
    def permissions(self) -> str:
        """What that allows, as fuzzing_checks.py reads it."""
        scopes = () if self.is_revoked else self.scopes
        return " ".join([*scopes, *(["webhook"] if self.webhook_secret == WEBHOOK_SECRET else [])])


FULL_KEY = Role("full key", SCOPES)
WRONG_SECRET = "a-wrong-webhook-secret"
ROLES = [
    FULL_KEY,
    Role("read-only key", ["monitors:read"]),
    Role("write-only key and a wrong secret", ["monitors:write"], webhook_secret=WRONG_SECRET),
    Role("revoked key", SCOPES, is_revoked=True),
    Role("nothing", webhook_secret=""),
]


@contextmanager
def fuzzed_service(folder: Path, **changes: Any) -> Iterator[RunningService]:
    """Start a service that sends no notifications: addresses that are made up may be somebody's."""
    with (
        patch.object(worker, "open_sender", lambda _: nullcontext()),
        patch.object(notification_service, "MAX_WEBHOOKS_A_TEAM", MANY),
        running_service(folder, **changes) as service,
    ):
        yield service


def credentials_of(service: RunningService, role: Role) -> dict[str, str]:
    """Make the role's key, and that of a stranger in another team, for fuzzing_checks.py to read."""
    with Player(service, form_team(service)) as stranger:
        return {
            "FUZZING_PERMISSIONS": role.permissions,
            "FUZZING_TOKEN": fetch_token(service, role),
            "FUZZING_WEBHOOK_SECRET": role.webhook_secret,
            "FUZZING_STRANGER": stranger.headers["Authorization"],
        }


def fuzz(
    service: RunningService,
    role: Role,
    credentials: dict[str, str],
    *options: str,
    config: str = "schemathesis.toml",
    trouble: str = "",
) -> None:
    """Fail with everything Schemathesis has to say if it has anything to say; `options` are its own."""
    examples = EXAMPLES // 4 if trouble else EXAMPLES  # trouble leaves less to find
    title = f"{engine_room.kind()}-{trouble or role.name}".replace(" ", "-")
    fuzzing = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", HERE / config),
            *("run", PUBLISHED, "--url", service.base_url),
            *("--seed", os.environ["FUZZING_SEED"], "--max-examples", str(examples), "--no-color"),
            *report_as(title),
            *options,
        ],
        env=os.environ
        | credentials
        | {"FUZZING_URL": service.base_url, "FUZZING_TROUBLE": trouble}
        | {"PYTHONPATH": f"{HERE}{os.pathsep}{TESTS}"},
        cwd=service.settings.data_dir,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    if fuzzing.returncode != 0:
        serve = f"make contract-serve ROLE={role.name!r} PORT={service.port} BACKENDS={engine_room.kind()}"
        pytest.fail(f"{fuzzing.stdout}{fuzzing.stderr}\nServes the curl lines again: {serve}", pytrace=False)


def report_as(title: str) -> list[str]:
    """Write a JUnit report where CONTRACT_REPORTS says."""
    folder = os.environ.get("CONTRACT_REPORTS")
    path = Path(folder or "").absolute() / f"junit-fuzzing-{title}.xml"
    return ["--report", "junit", "--report-junit-path", str(path)] if folder else []


def fetch_token(service: RunningService, role: Role) -> str:
    """Ask the token endpoint for one; without scopes there is no key, and no token."""
    if not role.scopes:
        return ""
    with Player(service, form_team(service, MANY), role.scopes) as player:
        service.run(use_the_documents_credentials(player))
        service.run(create_the_documents_things(player.team_id))
        token = player.fetch_token()
        if role.is_revoked:
            service.run(revoke_key(player.client_id))
    return token


async def use_the_documents_credentials(player: Player) -> None:
    """Give the player's key the credentials of the document's example, so that the fuzzer knows them."""
    form = next(iter(OPERATIONS["issue_token"].definition["requestBody"]["content"].values()))
    example = form["examples"]["credentials_in_the_form"]["value"]
    await ApiKey.filter(client_id=player.client_id).update(
        client_id=example["client_id"], secret_sha256=hash_secret(example["client_secret"])
    )
    player.client_id, player.client_secret = example["client_id"], example["client_secret"]


async def create_the_documents_things(team_id: UUID) -> None:
    """Make one of each that has the id of the document's examples, so that most requests find it."""
    monitor = (await create_monitor(team_id, ADDRESS)).clone(pk=UUID(EXAMPLE_IDS["monitor_id"]))
    await monitor.save(force_create=True)
    for row in begin_watch(monitor, monitor.created_at):
        await row.save()
    webhook = (await create_webhook(team_id, ADDRESS)).clone(pk=UUID(EXAMPLE_IDS["webhook_id"]))
    await webhook.save(force_create=True)
    delivery = await queue_test(team_id, webhook.id)
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
