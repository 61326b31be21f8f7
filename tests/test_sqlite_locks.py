"""Tests that a service keeps its locks on SQLite's files, whatever it does and whatever runs next to it.

Without the locks, another process considers itself the only user of the database: it writes the log (-wal)
into the database file, and deletes the log although the service still writes to it.
"""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import httpx
import pytest
import typer

from app.visitor import read_forms
from browser.possessions import list_addresses
from forked_commands import ForkedCommand
from monitoring.auth.scopes import SCOPES
from monitoring.cli import app
from monitoring.contract.document import published_document
from running_command import RunningCommand, running_command
from running_service import WEBHOOK_SECRET
from service_process import TIMEOUT_SECONDS, Installation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from monitoring.contract.document import Json, Operation

pytestmark = pytest.mark.embedded("PostgreSQL keeps its own files")

TEAM = "Alice's team"
NOBODYS_ID = "0190b6a0-0000-7000-8000-000000000000"
RUN_FOREVER = {"dev", "serve", "worker", "checker"}

# Every other command with its arguments. Its result does not matter, because it only needs to open the
# database.
COMMANDS = {
    "doctor": (),
    "migrate": (),
    "teams create": ("Bob's team",),
    "teams change-plan": (TEAM, "business"),
    "teams list": (),
    "users invite": ("alice@example.com", "--team", TEAM),
    "users list": (),
    "users reset": ("alice@example.com",),
    "users remove": ("alice@example.com",),
    "keys create": (TEAM,),
    "keys list": (),
    "keys revoke": ("mon_live_nobodys",),
    "signing-keys create": (),
    "encryption-keys create": (),
    "encryption-keys apply": (),
    "articles list": (),
    "articles show": (NOBODYS_ID,),
    "articles unpublish": (NOBODYS_ID,),
    "articles delete": (NOBODYS_ID,),
    "articles retry": (),
    "articles retranslate": ("--dry-run",),
    "articles export-xliff": (NOBODYS_ID, "es"),
    "articles import-xliff": ("/dev/null",),
    "articles usage": (),
    "articles restore": (),
    # These commands use only the API, or nothing, and open no database.
    "export": (),
    "apply": ("/dev/null",),
    "schema": (),
    "exam publisher": ("--host", "no-such-host.invalid"),
    "mcp": (),
    "import uptime-kuma": ("/dev/null",),
    "import gatus": ("/dev/null",),
    "import blackbox": ("/dev/null", "/dev/null"),
    "import healthchecks": ("/dev/null",),
    "import uptime-robot": ("/dev/null",),
    "import better-stack": ("/dev/null",),
    "import openapi": ("/dev/null",),
}


def list_commands() -> set[str]:
    """Return every command that ends by itself, as typed on the command line."""
    groups = typer.main.get_group(app).commands
    named = {
        f"{name} {each}"
        for name, group in groups.items()
        for each in getattr(group, "commands", {})
        if name not in RUN_FOREVER
    }
    return named | {name for name, group in groups.items() if not hasattr(group, "commands")} - RUN_FOREVER


class Watched:
    """A running service and its locks on its database."""

    def __init__(self, serving: RunningCommand, database: Path) -> None:
        self.serving = serving
        self._files = [database.with_name(database.name + suffix) for suffix in ("", "-shm")]
        self._log = database.with_name(f"{database.name}-wal")
        self._log_at_first = self._log.stat().st_ino

    def has_its_database(self) -> bool:
        """Return whether the database is locked, and still has the log with which the service started."""
        is_locked = all(self.serving.locks_on(file) for file in self._files)
        return is_locked and self._log.exists() and self._log.stat().st_ino == self._log_at_first


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    installation = Installation(tmp_path)
    installation.environment["SESSION_COOKIE_SECURE"] = "false"
    installation.make_tables()
    installation.run("teams", "create", TEAM, "--plan", "business")
    return installation


@pytest.fixture
def key(installation: Installation) -> dict[str, str]:
    """Create a key that may do everything."""
    scopes = [word for scope in SCOPES for word in ("--scope", scope)]
    created = json.loads(installation.run("keys", "create", TEAM, *scopes, "--json"))
    return {name: created[name] for name in ("client_id", "client_secret")}


@pytest.fixture
def serving(installation: Installation, key: dict[str, str]) -> Iterator[RunningCommand]:  # noqa: ARG001 - it is first
    with running_command(installation, "serve") as serving:
        yield serving


@pytest.fixture
def watched(serving: RunningCommand, installation: Installation) -> Watched:
    httpx.get(f"{serving.base_url}/health", timeout=30).raise_for_status()
    return Watched(serving, installation.folder / "monitoring.db")


@pytest.fixture
def alice(serving: RunningCommand, key: dict[str, str]) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=serving.base_url, timeout=30) as client:
        token = client.post("/api/oauth/token", data=key).raise_for_status().json()["access_token"]
        client.headers.update({"Authorization": f"Bearer {token}", "X-Webhook-Secret": WEBHOOK_SECRET})
        yield client


@pytest.fixture
def visitor(serving: RunningCommand, installation: Installation) -> Iterator[httpx.Client]:
    """Yield a client that is signed in to the app as an owner."""
    invited = installation.run("users", "invite", "alice@example.com", "--team", TEAM, "--json")
    code = json.loads(invited)["code"]
    joining = {"code": code, "name": "Alice", "password": "correct horse battery staple"}
    with httpx.Client(base_url=f"{serving.base_url}/app", timeout=30) as client:
        forms = read_forms(client.get("/join").text)
        joined = client.post("/join", data=forms["/app/join"] | joining)
        assert joined.is_redirect
        yield client


def ask(client: httpx.Client, operation: Operation) -> httpx.Response:
    """Send a request as documented, for resources that do not exist."""
    ids = {each["name"]: NOBODYS_ID for each in operation.parameters if each["in"] == "path"}
    content, headers = b"", {}
    for media_type, media in operation.definition.get("requestBody", {}).get("content", {}).items():
        shown: Json = next(iter(media.get("examples", {}).values()), {"value": {}})["value"]
        is_form = media_type == "application/x-www-form-urlencoded"
        content = urlencode(shown).encode() if is_form else json.dumps(shown).encode()
        headers = {"Content-Type": media_type}
        break
    return client.request(
        operation.method.upper(), operation.path.format_map(ids), content=content, headers=headers
    )


def test_no_request_of_the_document_loses_a_lock(watched: Watched, alice: httpx.Client) -> None:
    assert watched.has_its_database()
    for operation in published_document().operations.values():
        assert ask(alice, operation).status_code < 500, operation.operation_id
        assert watched.has_its_database(), operation.operation_id


def test_no_page_of_the_app_loses_a_lock(watched: Watched, visitor: httpx.Client) -> None:
    assert visitor.get("/monitors").status_code == 200
    for address in list_addresses("GET"):
        path = re.sub(r"\{\w+[^}]*\}", NOBODYS_ID, address)
        assert visitor.get(path).status_code < 500, path
        assert watched.has_its_database(), path


def test_no_command_beside_the_service_takes_its_log(
    watched: Watched, alice: httpx.Client, installation: Installation
) -> None:
    assert list_commands() == set(COMMANDS)
    for command, arguments in COMMANDS.items():
        alice.get("/ready").raise_for_status()
        ForkedCommand([*command.split(), *arguments], installation.environment).wait(TIMEOUT_SECONDS)
        assert watched.has_its_database(), command


def test_what_was_answered_after_a_command_survives_a_kill(
    serving: RunningCommand, alice: httpx.Client, key: dict[str, str], installation: Installation
) -> None:
    alice.get("/ready").raise_for_status()
    installation.run("teams", "list")
    created = alice.post("/api/monitors", json={"url": "https://shop.example.com/"})
    assert created.status_code == 201
    installation.run("keys", "revoke", key["client_id"])
    assert alice.get("/api/monitors").status_code == 401
    serving.kill()
    with closing(sqlite3.connect(installation.folder / "monitoring.db")) as database:
        monitors = database.execute("SELECT url FROM monitors").fetchall()
        revoked = database.execute("SELECT revoked_at FROM api_keys").fetchall()
    assert monitors == [("https://shop.example.com/",)]
    assert all(moment for (moment,) in revoked)
