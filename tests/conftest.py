"""Fixtures for all tests: the run's backends, a service for each process, and clients for each test."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING

import httpx
import pytest
from argon2 import PasswordHasher
from hypothesis import settings

import chosen_backends
import clean_logs
import debian_programs
import ready_models
import ready_tables
from backend_free import Watch, reaches_backends
from cast import Player, form_readers, form_team
from gate import is_left_to_the_night, is_left_whole
from insider import Insider
from long_first import put_long_first
from monitoring.cli.stopping import collect_seldom
from monitoring.members import passwords
from refusing_ports import hold_refusing_ports
from running_service import WEBHOOK_SECRET, RunningService, running_service
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    import logging
    from collections.abc import AsyncIterator, Iterator

    from monitoring.auth.models import Team
    from monitoring.backends.assembly import Backends
    from monitoring.contract.catalogue import Catalogue


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.register(debian_programs)
    parser.addoption("--gate", action="store_true", help="leave out what `make night` runs")
    parser.addoption(
        "--backends", choices=chosen_backends.KINDS, default="embedded", help="the backends behind every test"
    )


# The duration of an example depends more on the machine than on the code.
settings.register_profile("night", deadline=None)
settings.register_profile("gate", deadline=None, max_examples=15)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("gate" if config.getoption("--gate") else "night")
    chosen_backends.choose(config.getoption("--backends"))
    clean_logs.watch(config)
    ready_models.build_once()
    if not chosen_backends.is_production():
        config.pluginmanager.register(Watch())
    if not hasattr(config, "workerinput"):  # the workers of pytest-xdist start later
        hold_refusing_ports()
    collect_seldom()  # as a service does: garbage collection took a fifth of a run's time


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import files of which the gate runs no test, because three workers would import each of them."""
    return True if config.getoption("--gate") and is_left_whole(collection_path) else None


@pytest.hookimpl(trylast=True)  # after pytest-randomly
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests: those without a backend in the production run, and those for the night in the gate."""

    def stays(item: pytest.Item) -> bool:
        if config.getoption("--gate") and is_left_to_the_night(item):
            return False
        return not chosen_backends.is_production() or reaches_backends(item)

    config.hook.pytest_deselected(items=[item for item in items if not stays(item)])
    items[:] = [item for item in items if stays(item)]
    put_long_first(config, items)


def pytest_collection_finish() -> None:
    """Exempt the collected tests from garbage collection, too, because they are many and stay in memory."""
    collect_seldom()


def pytest_unconfigure() -> None:
    chosen_backends.close()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that is only for backends of the other kind, with its reason."""
    for kind in chosen_backends.KINDS:
        marker = item.get_closest_marker(kind)
        if marker and kind != item.config.getoption("--backends"):
            (reason,) = marker.args
            pytest.skip(f"{kind} only: {reason}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Function) -> Iterator[None]:
    yield
    folder = item.funcargs.get("tmp_path")
    if isinstance(folder, Path):
        chosen_backends.clear_out(folder)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def own_log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Capture only what this thread logs. Services of earlier tests may log at any time in other threads."""
    here = get_ident()

    def is_ours(record: logging.LogRecord) -> bool:
        return record.thread == here

    caplog.handler.addFilter(is_ours)
    yield caplog
    caplog.handler.removeFilter(is_ours)


@pytest.fixture
async def backends(tmp_path: Path) -> AsyncIterator[Backends]:
    """Open and activate backends without monitors."""
    async with temporary_backends(tmp_path) as opened:
        yield opened


@pytest.fixture(scope="session", autouse=True)
def tables_made_once(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Share the migrated database with the other workers of pytest-xdist.

    The folders of all workers have the same parent.
    """
    folder = tmp_path_factory.getbasetemp()
    ready_tables.share(folder.parent if hasattr(request.config, "workerinput") else folder)


@pytest.fixture(scope="session", autouse=True)
def patience_with_redis() -> Iterator[None]:
    """Raise the timeout for Redis, so that Redis does not seem unavailable on a busy machine."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("monitoring.backends.counters.TIMEOUT_SECONDS", 5)
        yield


@pytest.fixture(scope="session", autouse=True)
def leave_to_ping() -> Iterator[None]:
    """Let services accept monitors of type ping, even if this machine's kernel does not permit pings."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("monitoring.monitors.settings_rules.may_ping", lambda: True)
        yield


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords() -> Iterator[None]:
    """Make hashing a password take only a millisecond. Tests of hashing itself use `full_strength`."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=16, parallelism=1))
        yield


@pytest.fixture(scope="session", autouse=True)
def one_trust_store() -> Iterator[None]:
    """Load the trusted certificates of HTTP clients once. Loading them for each client would take 20 ms."""
    with pytest.MonkeyPatch.context() as patched:
        for client in ("httpx", "httpx2"):
            transports = import_module(f"{client}._transports.default")
            patched.setattr(transports, "create_ssl_context", cache(transports.create_ssl_context))
        yield


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture(scope="session")
def catalogue(service: RunningService) -> Catalogue:
    """Return the catalogue in which tests look up error sentences by name, so that they repeat none."""
    return service.app.contract.catalogue


@pytest.fixture
def team(service: RunningService) -> Team:
    return form_team(service)


@pytest.fixture
def alice(service: RunningService, team: Team) -> Iterator[Player]:
    """Yield a client that may do everything in its team."""
    with Player(service, team) as player:
        yield player


@pytest.fixture
def bob(service: RunningService, team: Team) -> Iterator[Player]:
    """Yield a client in Alice's team that may only read."""
    with Player(service, team, ["monitors:read"]) as player:
        yield player


@pytest.fixture
def charlie(service: RunningService) -> Iterator[Player]:
    """Yield a client in a team of its own."""
    with Player(service, form_team(service)) as player:
        yield player


@pytest.fixture
def site(service: RunningService) -> Iterator[Player]:
    """Yield a client that may only read articles, to build a website."""
    with Player(service, form_readers(service), ["articles:read"]) as player:
        yield player


@pytest.fixture
def editor(service: RunningService) -> Iterator[Player]:
    """Yield a client that may read articles and correct their translations."""
    with Player(service, form_readers(service), ["articles:read", "articles:write"]) as player:
        yield player


@pytest.fixture
def mallory(service: RunningService) -> Iterator[httpx.Client]:
    """Yield a client without valid credentials."""
    with httpx.Client(base_url=service.base_url, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def insider(service: RunningService) -> Iterator[Insider]:
    """Yield a client with Alice's token and the publisher's secret, which can send arbitrary bytes."""
    with Player(service, form_team(service)) as player:
        yield Insider(service, player)


@pytest.fixture
def publisher(service: RunningService) -> Iterator[httpx.Client]:
    """Yield a client that submits articles and knows the webhook's secret."""
    with httpx.Client(
        base_url=service.base_url, headers={"X-Webhook-Secret": WEBHOOK_SECRET}, timeout=30
    ) as client:
        yield client
