from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from real_servers import PostgresServer, running_postgres
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from monitoring.backends.assembly import Backends


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with running_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Point at an empty database of each kind: each locks and compares in its own way."""
    if request.param == "sqlite":
        return f"sqlite://{tmp_path}/monitoring.db"
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.create_database()


@pytest.fixture
async def backends(database_url: str, tmp_path: Path) -> AsyncIterator[Backends]:
    """Open a service that translates into two locales and gives up after three attempts."""
    async with temporary_backends(
        tmp_path,
        database_url=database_url,
        blog_storage_url=f"file://{tmp_path}/blog",
        locales="es,pt-BR",
        translator="pseudo",
        translation_max_attempts=3,
        translation_lease_seconds=5,
    ) as opened:
        yield opened
