from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

import asyncpg  # type: ignore[import-untyped]
import httpx
import pytest
import redis

import chosen_backends
from frozen_servers import frozen
from monitoring.auth.models import Team
from monitoring.backends.database import migrate
from monitoring.backends.errors import DatabaseUnavailable
from monitoring.backends.write_probe import WriteProbe
from real_servers import running_postgres, running_redis
from running_command import running_command
from running_service import WEBHOOK_SECRET, RunningService, make_settings, running_service
from service_process import Installation, wait_until
from unreliable_s3 import before

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Two seconds, doubled for a busy machine.
WITHIN_SECONDS = 4.0

LARGE_FILE = "something large"


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """Mount a file system of this size at a folder."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def fill_up(disk: Path) -> None:
    """Fill up a disk completely."""
    with suppress(OSError), (disk / LARGE_FILE).open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def order(database_url: str, statement: str) -> None:
    """Change a setting of the PostgreSQL server, and make it reload its settings."""

    async def execute() -> None:
        connection = await asyncpg.connect(database_url)
        try:
            await connection.execute("SET default_transaction_read_only = off")
            await connection.execute(statement)
            await connection.execute("SELECT pg_reload_conf()")
        finally:
            await connection.close()

    asyncio.run(execute())


async def read_teams() -> None:
    """Read from the database, as any request does."""
    await Team.all().count()


async def read_probe() -> bytes:
    return (await WriteProbe.get()).content


@pytest.mark.production("an embedded service works on its tables at once: it does not start without them")
@pytest.mark.traceback_expected("what a worker repeats finds no tables yet")
def test_a_service_is_ready_once_its_database_is_at_the_newest_schema(tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    service = RunningService(settings)
    service.start()
    try:
        before = httpx.get(f"{service.base_url}/ready", timeout=30)
        asyncio.run(migrate(settings))
        after = httpx.get(f"{service.base_url}/ready", timeout=30)
    finally:
        service.stop()
    assert (before.status_code, after.status_code) == (503, 200)
    assert "Retry-After" in before.headers


@pytest.mark.production("a file does not stop answering")
def test_a_probe_has_its_503_within_two_seconds_while_the_database_hangs(tmp_path: Path) -> None:
    with (
        running_postgres() as postgres,
        running_service(tmp_path, database_url=postgres.create_database()) as service,
    ):
        ready = f"{service.base_url}/ready"
        assert httpx.get(ready, timeout=30).status_code == 200
        with frozen(postgres):  # because DATABASE_TIMEOUT_SECONDS is ten
            wait_until(lambda: httpx.get(ready, timeout=WITHIN_SECONDS).status_code == 503)
            assert httpx.get(ready, timeout=WITHIN_SECONDS).status_code == 503
        wait_until(lambda: httpx.get(ready, timeout=30).status_code == 200)


@pytest.mark.production("a file does not stop answering")
def test_what_was_well_is_asked_again_as_soon_as_work_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("monitoring.backends.readiness.BAD_REMEMBERED_SECONDS", 3600)
    with (
        running_postgres() as postgres,
        running_service(tmp_path, database_url=postgres.create_database()) as service,
    ):
        ready = f"{service.base_url}/ready"
        assert httpx.get(ready, timeout=30).status_code == 200
        postgres.stop()
        try:
            with pytest.raises(DatabaseUnavailable):
                service.run(read_teams())
            assert httpx.get(ready, timeout=30).status_code == 503
        finally:
            postgres.start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
def test_a_full_disk_is_a_blog_storage_that_is_away(tmp_path: Path) -> None:
    with (
        small_disk(tmp_path / "small disk", "64k") as disk,
        running_service(tmp_path, blog_storage_url=f"file://{quote(str(disk))}/blog") as service,
    ):

        def judge() -> str:
            ready = httpx.get(f"{service.base_url}/ready", timeout=30)
            return str(ready.json()["blog_storage"])

        assert judge() == "ok"
        fill_up(disk)
        wait_until(lambda: judge() == "away")
        (disk / LARGE_FILE).unlink()
        wait_until(lambda: judge() == "ok")


@pytest.mark.embedded("PostgreSQL stops when its disk is full")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
def test_a_full_disk_under_sqlite_is_a_database_that_is_away_and_two_lines_of_log(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    with small_disk(tmp_path / "small disk", "8m") as disk:
        installation.environment["DATA_DIR"] = str(disk)
        installation.make_tables()
        installation.run("teams", "create", "Alice's team")
        key = json.loads(installation.run("keys", "create", "Alice's team", "--json"))
        credentials = {name: key[name] for name in ("client_id", "client_secret")}
        with (
            running_command(installation, "serve") as serving,
            httpx.Client(base_url=serving.base_url, timeout=30) as alice,
        ):
            token = alice.post("/api/oauth/token", data=credentials).raise_for_status().json()["access_token"]
            alice.headers["Authorization"] = f"Bearer {token}"

            def create_monitor() -> int:
                return alice.post("/api/monitors", json={"url": "https://shop.example.com/"}).status_code

            assert (create_monitor(), alice.get("/ready").status_code) == (201, 200)
            fill_up(disk)
            assert [create_monitor() for _ in range(5)] == [503] * 5
            wait_until(lambda: alice.get("/ready").status_code == 503)
            for _ in range(3):
                assert (alice.get("/api/monitors").status_code, alice.get("/ready").status_code) == (200, 503)
            (disk / LARGE_FILE).unlink()
            wait_until(lambda: alice.get("/ready").status_code == 200)
            assert create_monitor() == 201
            wait_until(lambda: len([line for line in serving.lines if "is away" in line]) == 2)
            began, over = (line for line in serving.lines if "is away" in line)
    assert "WARNING" in began
    assert "Over: " in over


@pytest.mark.production("who writes to a file of SQLite is not told to stop")
def test_a_database_that_may_only_be_read_is_away_and_two_lines_of_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "monitoring.backends.outage")
    with (
        running_postgres() as postgres,
        running_service(tmp_path, database_url=(url := postgres.create_database())) as service,
    ):

        def judge() -> int:
            return httpx.get(f"{service.base_url}/ready", timeout=30).status_code

        assert judge() == 200
        order(url, "ALTER SYSTEM SET default_transaction_read_only = on")
        wait_until(lambda: judge() == 503)
        for _ in range(3):
            service.run(read_teams())
            assert judge() == 503
        order(url, "ALTER SYSTEM RESET default_transaction_read_only")
        wait_until(lambda: judge() == 200)
        here = f"127.0.0.1:{postgres.port}/"

        def told() -> list[str]:
            return [message.partition(" ")[0] for message in caplog.messages if here in message]

        wait_until(lambda: judge() == 200 and len(told()) == 2)
    assert told() == ["The", "Over:"]


@pytest.mark.production("the queue within the process has no limit")
def test_a_redis_whose_memory_is_full_is_away_and_two_lines_of_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "monitoring.backends.outage")
    with (
        running_redis() as server,
        redis.Redis.from_url(server.url) as operator,
        running_service(tmp_path, redis_url=server.url) as service,
    ):

        def judge() -> str:
            return str(httpx.get(f"{service.base_url}/ready", timeout=30).json()["queue"])

        def told() -> list[str]:
            here = f"Redis at 127.0.0.1:{server.port} "
            return [message.partition(" ")[0] for message in caplog.messages if here in message]

        assert judge() == "ok"
        operator.config_set("maxmemory", 1)
        wait_until(lambda: judge() == "away")
        assert [judge() for _ in range(5)] == ["away"] * 5
        operator.config_set("maxmemory", 0)
        wait_until(lambda: judge() == "ok")
        wait_until(lambda: judge() == "ok" and len(told()) == 2)
    assert told() == ["Redis", "Over:"]


def test_a_bucket_or_folder_that_refuses_articles_is_away_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("monitoring.backends.readiness.GOOD_REMEMBERED_SECONDS", 3600)
    with running_service(tmp_path) as service:

        def judge() -> str:
            return str(httpx.get(f"{service.base_url}/ready", timeout=30).json()["blog_storage"])

        assert judge() == "ok"
        with chosen_backends.blog_storage_away(tmp_path):
            refused = httpx.post(
                f"{service.base_url}/api/webhooks/publisher",
                headers={"X-Webhook-Secret": WEBHOOK_SECRET},
                json={"article": {"title": "Moon"}},
                timeout=30,
            )
            assert refused.status_code == 503
            wait_until(lambda: judge() == "away")
        wait_until(lambda: judge() == "ok")


def test_strangers_who_ask_again_and_again_cause_no_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("monitoring.backends.readiness.GOOD_REMEMBERED_SECONDS", 3600)
    with running_service(tmp_path) as service:

        def ask() -> bytes:
            httpx.get(f"{service.base_url}/ready", timeout=30).raise_for_status()
            return service.run(read_probe())

        assert len({ask() for _ in range(10)}) == 1
        monkeypatch.setattr("monitoring.backends.readiness.GOOD_REMEMBERED_SECONDS", 0)
        assert len({ask() for _ in range(3)}) == 3


@pytest.mark.anyio
async def test_a_stranger_who_asks_again_and_again_makes_one_request_to_the_bucket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3, requests = chosen_backends.s3(), list[bytes]()
    async with before(s3.port, requests) as endpoint:
        for name, value in (s3.environment | {"AWS_ENDPOINT_URL": endpoint}).items():
            monkeypatch.setenv(name, value)
        with running_service(tmp_path, blog_storage_url=s3.new_location()) as service:
            async with httpx.AsyncClient(base_url=service.base_url, timeout=30) as stranger:
                states = [(await stranger.get("/ready")).json()["blog_storage"] for _ in range(10)]
    assert states == ["ok"] * 10
    assert len(requests) == 1
