from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
import time_machine
from redis import Redis
from typer.testing import CliRunner

import chosen_backends
from backends.sessions import Session
from checks.rounds import make_due
from monitoring.backends.assembly import open_backends
from monitoring.cli import app
from ready_tables import make_tables
from real_servers import running_redis
from release_before import pretend_to_be_migrated_by
from running_command import running_command
from service_process import Installation
from temporary_backends import make_settings

if TYPE_CHECKING:
    from pathlib import Path

IN_PRODUCTION = pytest.mark.production("embedded, this machine's clock and this process are all there is")


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """Make an installation that works, and let the environment describe it."""
    installation = Installation(tmp_path)
    for name, value in installation.environment.items():
        monkeypatch.setenv(name, value)
    return installation


def examine(*arguments: str) -> tuple[int, dict[str, Any]]:
    """Return the exit status, and what was found by what was examined."""
    done = CliRunner().invoke(app, ["doctor", "--json", *arguments])
    return done.exit_code, {row["examined"]: row for row in json.loads(done.stdout)}


def list_ill(found: dict[str, Any]) -> list[str]:
    return [name for name, row in found.items() if row["state"] == "ill"]


def test_an_installation_that_works_is_well(installation: Installation) -> None:
    installation.make_tables()
    status, found = examine()
    assert (status, list_ill(found)) == (0, [])
    assert list(found) == ["settings", "database", "schema", "clock", "blog_storage", "queue", "pings"]
    assert found["blog_storage"]["state"] == "ok"
    assert found["queue"]["state"] == ("ok" if chosen_backends.is_production() else "not_configured")
    assert examine() == (status, found)  # it has left nothing behind


def test_a_checker_is_examined_with_its_own_settings(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.make_tables()
    monkeypatch.delenv("SIGNING_KEYS")
    _, found = examine("--for", "checker")
    assert (found["settings"]["state"], found["blog_storage"]["state"]) == ("ok", "not_configured")


@pytest.mark.embedded("production has a Redis")
@pytest.mark.parametrize("process", ["worker", "checker"])
def test_a_process_that_cannot_start_without_redis_is_ill(installation: Installation, process: str) -> None:
    installation.make_tables()
    status, found = examine("--for", process)
    assert (status, list_ill(found)) == (1, ["queue"])
    assert found["queue"]["finding"].startswith("REDIS_URL is not set")


def test_pings_that_the_kernel_does_not_allow_are_ill_if_a_monitor_needs_them(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.make_tables()
    settings = make_settings(installation.folder)

    async def create() -> None:
        async with open_backends(settings, tasks=()) as backends:
            with backends.activate():
                await make_due(type="ping", url="ping://gateway.example.com")

    monkeypatch.setattr("monitoring.cli.doctor.may_ping", lambda: False)
    monkeypatch.setenv("CHECKS_AT_ONCE", "10")
    assert examine()[1]["pings"]["state"] == "not_configured"
    asyncio.run(create())
    assert list_ill(examine()[1]) == ["pings"]
    monkeypatch.setattr("monitoring.cli.doctor.may_ping", lambda: True)
    assert examine()[1]["pings"]["state"] == "ok"
    monkeypatch.setenv("PING_MONITORS", "false")
    assert examine()[1]["pings"]["state"] == "not_configured"


def test_wrong_settings_are_named_and_end_it_with_another_status(installation: Installation) -> None:
    with running_command(installation, "doctor", SIGNING_KEYS="short") as examining:
        assert examining.wait() == 2
        assert "SIGNING_KEYS: " in "\n".join(examining.lines)


@pytest.mark.usefixtures("installation")
def test_a_database_without_tables_is_told_to_be_migrated() -> None:
    status, found = examine()
    assert (status, list_ill(found)) == (1, ["database", "schema"])
    assert "run `monitoring migrate`" in found["schema"]["finding"]


def test_a_schema_of_two_releases_later_is_ill(installation: Installation) -> None:
    installation.make_tables()
    settings = make_settings(installation.folder)
    asyncio.run(pretend_to_be_migrated_by(settings, "0901_begin_0_3"))
    status, found = examine()
    assert (status, found["schema"]["state"]) == (0, "ok")
    assert "0901_begin_0_3" in found["schema"]["finding"]
    asyncio.run(pretend_to_be_migrated_by(settings, "0951_begin_0_4"))
    assert list_ill(examine()[1]) == ["database", "schema"]


@pytest.mark.production("a folder that cannot be written to is a wrong setting")
def test_a_blog_storage_that_takes_nothing_is_ill(installation: Installation) -> None:
    installation.make_tables()
    with chosen_backends.blog_storage_away(installation.folder):
        status, found = examine()
    assert (status, list_ill(found)) == (1, ["blog_storage"])


@IN_PRODUCTION
def test_a_database_that_only_answers_readers_is_ill(installation: Installation) -> None:
    installation.make_tables()
    url = installation.environment["DATABASE_URL"]
    with Session(url) as session:
        [database] = session.execute("SELECT current_database()::text")
        session.execute(f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    status, found = examine()
    assert (status, list_ill(found)) == (1, ["database"])
    assert "read-only" in found["database"]["finding"]


@IN_PRODUCTION
def test_a_redis_without_memory_is_ill_though_it_answers(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.make_tables()
    with running_redis() as server:
        monkeypatch.setenv("REDIS_URL", server.url)
        with Redis.from_url(server.url) as client:
            client.config_set("maxmemory", "1")
        status, found = examine()
        assert (status, list_ill(found)) == (1, ["queue"])
    assert examine()[1]["queue"]["state"] == "ill"  # now it does not answer


@IN_PRODUCTION
@pytest.mark.parametrize(("minutes", "words"), [(3, "ahead of"), (-3, "behind")])
def test_a_clock_that_differs_from_the_databases_is_ill(
    installation: Installation, minutes: int, words: str
) -> None:
    make_tables(make_settings(installation.folder))
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=minutes)):
        status, found = examine()
    assert (status, list_ill(found)) == (1, ["clock"])
    assert f"180 s {words} the database's" in found["clock"]["finding"]
