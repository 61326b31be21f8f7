"""Fixtures for every test: a running service, shared by a test process, and the cast, fresh for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from cast import Player, form_team
from running_service import WEBHOOK_SECRET, RunningService, running_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitoring.auth.models import Team
    from monitoring.contract.catalogue import Catalogue


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs on PostgreSQL: Tortoise's models know one dialect a process, so it runs on its own."""
    for item in items:
        if "postgresql" in item.name:
            item.add_marker("postgresql")


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


@pytest.fixture
def publisher(service: RunningService) -> Iterator[httpx.Client]:
    """Delivers articles and knows the webhook's secret."""
    with httpx.Client(
        base_url=service.base_url, headers={"X-Webhook-Secret": WEBHOOK_SECRET}, timeout=30
    ) as client:
        yield client
