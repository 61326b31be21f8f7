from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from monitoring.backends.counters import TIMEOUT_SECONDS
from real_servers import running_postgres, running_redis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from real_servers import PostgresServer, RedisServer


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """Start a PostgreSQL that a module may stop or freeze, because no other tests use it."""
    with running_postgres() as running:
        yield running


@pytest.fixture
def redis_server() -> Iterator[RedisServer]:
    with running_redis() as server:
        yield server


@pytest.fixture
def no_patience_with_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a silent Redis no longer than the service does outside tests."""
    monkeypatch.setattr("monitoring.backends.counters.TIMEOUT_SECONDS", TIMEOUT_SECONDS)
