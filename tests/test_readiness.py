from __future__ import annotations

import asyncio
import os
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
import pytest

import chosen_backends
from frozen_servers import frozen
from monitoring.backends.database import migrate
from real_servers import running_postgres
from running_service import RunningService, make_settings, running_service
from service_process import wait_until
from unreliable_s3 import before

if TYPE_CHECKING:
    from pathlib import Path

# Two seconds, and as much again for a busy machine.
WITHIN_SECONDS = 4.0


@pytest.mark.production("an embedded service works on its tables at once: it does not start without them")
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
        with frozen(postgres):  # DATABASE_TIMEOUT_SECONDS is ten
            wait_until(lambda: httpx.get(ready, timeout=WITHIN_SECONDS).status_code == 503)
            assert httpx.get(ready, timeout=WITHIN_SECONDS).status_code == 503
        wait_until(lambda: httpx.get(ready, timeout=30).status_code == 200)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
def test_a_full_disk_is_a_blog_storage_that_is_away(tmp_path: Path) -> None:
    disk = tmp_path / "small disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], check=True)
    try:
        with running_service(tmp_path, blog_storage_url=f"file://{quote(str(disk))}/blog") as service:

            def judge() -> str:
                ready = httpx.get(f"{service.base_url}/ready", timeout=30)
                return str(ready.json()["blog_storage"])

            assert judge() == "ok"
            with suppress(OSError):
                (disk / "something large").write_bytes(bytes(1_000_000))
            wait_until(lambda: judge() == "away")
            (disk / "something large").unlink()
            wait_until(lambda: judge() == "ok")
    finally:
        subprocess.run(["umount", disk], check=True)


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
