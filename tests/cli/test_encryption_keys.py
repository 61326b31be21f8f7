from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from typer.testing import CliRunner, Result

import chosen_backends
from backends.dump import dump_database
from monitoring.auth.service import create_team
from monitoring.backends.encryption import decrypt, generate_encryption_key
from monitoring.cli import app
from monitoring.idempotency.models import IdempotencyKey
from monitoring.monitors.heartbeats.models import Heartbeat
from monitoring.monitors.heartbeats.tokens import new_token
from monitoring.monitors.models import Monitor
from monitoring.monitors.request_headers import read_headers
from monitoring.monitors.service import create_monitor
from monitoring.notifications.models import NotificationChannel
from monitoring.notifications.secrets import read_secret
from monitoring.notifications.service import create_channel
from monitoring.settings import read_settings
from temporary_backends import ENCRYPTION_KEY, SIGNING_KEY, temporary_backends

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path

HEADERS = {"Authorization": "Bearer a-secret-of-this-test"}
NEW_KEY = generate_encryption_key()


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {
        "SIGNING_KEYS": SIGNING_KEY,
        "ENCRYPTION_KEYS": ENCRYPTION_KEY,
        **chosen_backends.environment_for(tmp_path),
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["encryption-keys", *arguments])


def apply() -> tuple[int, dict[str, int]]:
    """Run the command, and return its status and what it printed."""
    result = run("apply", "--json")
    return result.exit_code, json.loads(result.stdout)


def inside(folder: Path, work: Coroutine[Any, Any, Any], **settings: Any) -> Any:
    async def do() -> Any:
        async with temporary_backends(folder, **settings):
            return await work

    return asyncio.run(do())


async def keep_secrets() -> tuple[Monitor, NotificationChannel]:
    team = await create_team(f"Team {uuid4()}", "free", 10)
    url = "https://shop.example.com/"
    return (
        await create_monitor(team.id, {"url": url, "request_headers": HEADERS}),
        await create_channel(team.id, {"type": "webhook", "url": url}),
    )


async def read_secrets() -> tuple[dict[str, str], str]:
    monitor, webhook = await Monitor.get(), await NotificationChannel.get()
    return read_headers(monitor.request_headers, monitor.encrypted_headers), read_secret(webhook)


async def keep_token() -> str:
    """Make the monitor take pings, and return the token for them."""
    heartbeat = Heartbeat(monitor_id=(await Monitor.get()).id, **new_token())
    await heartbeat.save(force_create=True)
    return decrypt(heartbeat.encrypted_token)


async def read_token() -> str:
    return decrypt((await Heartbeat.get()).encrypted_token)


class TestCreate:
    def test_prints_a_key_that_the_setting_takes_and_never_the_same(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        printed = [run("create").stdout for _ in range(2)]
        monkeypatch.setenv("ENCRYPTION_KEYS", ",".join(printed))
        assert len(read_settings().encryption_keys) == 2
        assert [text.count("\n") for text in printed] == [1, 1]


class TestApply:
    def test_lets_an_old_key_go(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        inside(tmp_path, keep_secrets())
        kept, token = inside(tmp_path, read_secrets()), inside(tmp_path, keep_token())
        monkeypatch.setenv("ENCRYPTION_KEYS", f"{NEW_KEY},{ENCRYPTION_KEY}")
        assert apply() == (
            0,
            {
                "monitors": 1,
                "heartbeats": 1,
                "notification_channels": 1,
                "stored_answers": 0,
                "unreadable": 0,
            },
        )
        assert apply() == (
            0,
            {
                "monitors": 0,
                "heartbeats": 0,
                "notification_channels": 0,
                "stored_answers": 0,
                "unreadable": 0,
            },
        )
        assert inside(tmp_path, read_secrets(), encryption_keys=NEW_KEY) == kept
        assert inside(tmp_path, read_token(), encryption_keys=NEW_KEY) == token

    def test_encrypts_what_earlier_releases_stored_plain(self, tmp_path: Path) -> None:
        async def store_plain() -> str:
            monitor, webhook = await keep_secrets()
            plain = read_secret(webhook)
            await Monitor.all().update(request_headers=HEADERS, encrypted_headers=None)
            await NotificationChannel.all().update(secret=plain)
            await IdempotencyKey.create(
                team_id=monitor.team_id,
                key="a",
                request_sha256="",
                reply_status=201,
                reply_headers={},
                reply_body=json.dumps({"request_headers": HEADERS}),
                created_at=monitor.created_at,
            )
            return plain

        secret = inside(tmp_path, store_plain())
        assert secret in inside(tmp_path, dump_database())
        assert apply() == (
            0,
            {
                "monitors": 1,
                "heartbeats": 0,
                "notification_channels": 1,
                "stored_answers": 1,
                "unreadable": 0,
            },
        )
        stored = inside(tmp_path, dump_database())
        assert secret not in stored
        assert HEADERS["Authorization"] not in stored
        assert inside(tmp_path, read_secrets()) == (HEADERS, secret)

    def test_says_what_no_key_decrypts_and_leaves_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        inside(tmp_path, keep_secrets())
        monkeypatch.setenv("ENCRYPTION_KEYS", NEW_KEY)
        status, counted = apply()
        assert (status, counted["unreadable"]) == (1, 2)
        assert inside(tmp_path, read_secrets())[0] == HEADERS
