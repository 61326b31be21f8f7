from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx
import pytest
from typer.testing import CliRunner, Result

import chosen_backends
from backends.sessions import Session
from monitoring.backends import database
from monitoring.cli import app
from ready_tables import make_tables
from release_before import install_release_before, pretend_to_be_migrated_by
from running_command import running_command
from running_service import running_service
from service_process import Installation, wait_until
from temporary_backends import make_settings

if TYPE_CHECKING:
    from pathlib import Path

    from monitoring.settings import Settings

NEXT_RELEASE = ("0901_begin_0_3", "0902_something_else")
THE_ONE_AFTER = (*NEXT_RELEASE, "0951_begin_0_4")

POSTGRESQL = pytest.mark.production("there processes of two releases run side by side")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return make_settings(tmp_path)


@pytest.fixture
def environment(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the environment describe an installation without tables. It holds no secret but the database's."""
    assert settings.data_dir == tmp_path
    for name, value in chosen_backends.environment_for(tmp_path).items():
        monkeypatch.setenv(name, value)


def migrate() -> Result:
    return CliRunner().invoke(app, ["migrate"])


@pytest.mark.usefixtures("environment")
class TestMigrate:
    def test_says_what_was_done_and_then_that_nothing_is_to_do(self) -> None:
        first, second = migrate(), migrate()
        assert (first.exit_code, second.exit_code) == (0, 0)
        newest = first.stdout.split()[-1]
        assert first.stdout.startswith("Applied ")
        assert second.stdout == f"Nothing to do: the schema is at {newest}\n"
        assert (first.stderr, second.stderr) == ("", "")  # nobody is upgrading

    def test_says_before_it_begins_what_must_not_be_done_beside_the_release_before(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asyncio.run(install_release_before(settings))

        async def change_nothing(_: Settings) -> None:
            pass

        monkeypatch.setattr("monitoring.cli.migrating.migrate_database", change_nothing)
        said = migrate().stderr
        if settings.is_on_postgresql:
            assert "While processes of 0.1 run beside this release:" in said
        else:
            assert said.startswith("First stop all processes of the previous release")

    @POSTGRESQL
    def test_blames_a_long_read_and_not_the_database(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asyncio.run(install_release_before(settings))
        monkeypatch.setattr(database, "LOCK_PATIENCE_SECONDS", (0.01,))
        with Session(settings.database_url.get_secret_value()) as reader, reader.transaction():
            reader.execute("SELECT * FROM incidents")
            refused = migrate()
        assert refused.exit_code == 1
        assert "Nothing was changed: other sessions kept the tables in use" in refused.stderr
        assert "away" not in refused.stderr

    def test_changes_nothing_where_a_later_release_has_been(self, settings: Settings) -> None:
        make_tables(settings)
        asyncio.run(pretend_to_be_migrated_by(settings, *NEXT_RELEASE))
        done = migrate()
        assert (done.exit_code, done.stdout) == (0, f"Nothing to do: the schema is at {NEXT_RELEASE[-1]}\n")
        asyncio.run(pretend_to_be_migrated_by(settings, THE_ONE_AFTER[-1]))
        refused = migrate()
        assert refused.exit_code == 1
        assert f"two releases newer than this release ({', '.join(THE_ONE_AFTER)})" in refused.stderr


class TestLaterSchema:
    """What a process does on tables that a later release has migrated."""

    def test_that_of_the_next_release_is_said_at_the_start(self, tmp_path: Path) -> None:
        installation = Installation(tmp_path)
        installation.make_tables()
        asyncio.run(pretend_to_be_migrated_by(make_settings(tmp_path), *NEXT_RELEASE))
        with running_command(installation, "serve") as serving:
            assert httpx.get(f"{serving.base_url}/ready", timeout=30).status_code == 200
            said = [line for line in serving.lines if "WARNING" in line]
            assert [
                "The schema is newer than this release (0901_begin_0_3, 0902" in line for line in said
            ] == [True]

    @pytest.mark.parametrize(
        "command",
        [
            ("serve",),
            *(
                pytest.param(
                    arguments, marks=pytest.mark.production("without Redis there is one process only")
                )
                for arguments in (("worker",), ("checker",), ("serve", "--workers", "2"))
            ),
        ],
    )
    def test_that_of_the_release_after_is_refused(self, tmp_path: Path, command: tuple[str, ...]) -> None:
        installation = Installation(tmp_path)
        installation.make_tables()
        installation.environment["CHECKS_AT_ONCE"] = "10"
        asyncio.run(pretend_to_be_migrated_by(make_settings(tmp_path), *THE_ONE_AFTER))
        with running_command(installation, *command) as starting:
            assert starting.wait() == 1
            assert (
                "The schema is two releases newer than this release (0901_begin_0_3, " in starting.lines[-1]
            )

    def test_no_process_is_ready_that_met_it_too_late_to_refuse(self, tmp_path: Path) -> None:
        """The database may have been away when the process started."""
        settings = make_settings(tmp_path)
        make_tables(settings)
        asyncio.run(pretend_to_be_migrated_by(settings, *THE_ONE_AFTER))
        with running_service(tmp_path) as service:
            wait_until(lambda: httpx.get(f"{service.base_url}/ready", timeout=30).status_code == 503)
