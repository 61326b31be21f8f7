from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx
import pytest

from monitoring.backends.database import migrate
from running_service import RunningService, make_settings

if TYPE_CHECKING:
    from pathlib import Path


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
