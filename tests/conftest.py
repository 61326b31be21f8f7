"""Fixtures for all: databases, a running service a test process, and a cast for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from cast import Player, form_team
from insider import Insider
from real_servers import PostgresServer, running_postgres
from running_service import WEBHOOK_SECRET, RunningService, running_service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from monitoring.auth.models import Team
    from monitoring.contract.catalogue import Catalogue


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs on PostgreSQL: Tortoise's models know one dialect a process, so it runs on its own."""
    for item in items:
        if "postgresql" in item.name:
            item.add_marker("postgresql")


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


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture(scope="session")
def catalogue(service: RunningService) -> Catalogue:
    """Look error sentences up by name, so that no test types one."""
    return service.app.contract.catalogue


@pytest.fixture
def team(service: RunningService) -> Team:
    return form_team(service)


@pytest.fixture
def alice(service: RunningService, team: Team) -> Iterator[Player]:
    """May do everything in her team."""
    with Player(service, team) as player:
        yield player


@pytest.fixture
def bob(service: RunningService, team: Team) -> Iterator[Player]:
    """Is in Alice's team and may only read."""
    with Player(service, team, ["monitors:read"]) as player:
        yield player


@pytest.fixture
def charlie(service: RunningService) -> Iterator[Player]:
    """Is in a team of his own."""
    with Player(service, form_team(service)) as player:
        yield player


@pytest.fixture
def mallory(service: RunningService) -> Iterator[httpx.Client]:
    """Has no valid credentials."""
    with httpx.Client(base_url=service.base_url, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def insider(service: RunningService) -> Iterator[Insider]:
    """Has Alice's token and the publisher's secret, and sends whatever bytes it likes."""
    with Player(service, form_team(service)) as player:
        yield Insider(service, player)


@pytest.fixture
def publisher(service: RunningService) -> Iterator[httpx.Client]:
    """Delivers articles and knows the webhook's secret."""
    with httpx.Client(
        base_url=service.base_url, headers={"X-Webhook-Secret": WEBHOOK_SECRET}, timeout=30
    ) as client:
        yield client
