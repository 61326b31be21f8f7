"""For all tests: the engines of the run, a running service a test process, and a cast for each test."""

from __future__ import annotations

from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING

import httpx
import pytest
from hypothesis import settings

import engine_room
from cast import Player, form_team
from insider import Insider
from running_service import WEBHOOK_SECRET, RunningService, running_service

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterator

    from monitoring.auth.models import Team
    from monitoring.contract.catalogue import Catalogue


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--backends", choices=engine_room.KINDS, default="embedded", help="the engines behind every test"
    )


# How long an example takes says more of the machine than of the code.
settings.register_profile("without deadline", deadline=None)
settings.load_profile("without deadline")


def pytest_configure(config: pytest.Config) -> None:
    engine_room.choose(config.getoption("--backends"))


def pytest_unconfigure() -> None:
    engine_room.close()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what says that it is about engines of the other kind, and why."""
    for kind in engine_room.KINDS:
        marker = item.get_closest_marker(kind)
        if marker and kind != engine_room.kind():
            (reason,) = marker.args
            pytest.skip(f"{kind} only: {reason}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Function) -> Iterator[None]:
    yield
    folder = item.funcargs.get("tmp_path")
    if isinstance(folder, Path):
        engine_room.clear_out(folder)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def own_log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Capture what this thread logs; services of earlier tests, in other threads, may log at any time."""
    here = get_ident()

    def is_ours(record: logging.LogRecord) -> bool:
        return record.thread == here

    caplog.handler.addFilter(is_ours)
    yield caplog
    caplog.handler.removeFilter(is_ours)


@pytest.fixture(scope="session", autouse=True)
def patience_with_redis() -> Iterator[None]:
    """Keep a machine that is busy with other tests from making Redis seem away."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("monitoring.backends.counters.TIMEOUT_SECONDS", 5)
        yield


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
