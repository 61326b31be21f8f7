from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from real_servers import PostgresServer, RedisServer, running_postgres, running_redis

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with running_postgres() as server:
        yield server


@pytest.fixture
def redis_server() -> Iterator[RedisServer]:
    with running_redis() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Point at an empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite://{tmp_path}/monitoring.db"
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.create_database()
