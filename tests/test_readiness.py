from __future__ import annotations

import asyncio
import os
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
import pytest

from frozen_servers import frozen
from monitoring.backends.database import migrate
from real_servers import running_postgres
from running_service import RunningService, make_settings, running_service
from service_process import wait_until

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
            answers = [httpx.get(ready, timeout=WITHIN_SECONDS) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [503, 503]
        wait_until(lambda: httpx.get(ready, timeout=30).status_code == 200)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small file system")
def test_a_full_disk_is_a_blog_storage_that_is_away(tmp_path: Path) -> None:
    disk = tmp_path / "small disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], check=True)
    try:
        with running_service(tmp_path, blog_storage_url=f"file://{quote(str(disk))}/blog") as service:
            ready = f"{service.base_url}/ready"
            before = httpx.get(ready, timeout=30).json()["blog_storage"]
            with suppress(OSError):
                (disk / "something large").write_bytes(bytes(1_000_000))
            full = httpx.get(ready, timeout=30).json()["blog_storage"]
            (disk / "something large").unlink()
            after = httpx.get(ready, timeout=30).json()["blog_storage"]
    finally:
        subprocess.run(["umount", disk], check=True)
    assert (before, full, after) == ("ok", "away", "ok")
