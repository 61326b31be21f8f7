from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from monitoring.backends.database import migrate, open_database, transaction
from monitoring.settings import SettingsError
from ready_tables import make_tables
from running_command import running_command
from service_process import Installation
from temporary_backends import make_settings

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.anyio, pytest.mark.embedded("PostgreSQL keeps its own files")]


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_nobody_else_on_the_machine_reads_the_files_of_sqlite(tmp_path: Path) -> None:
    settings = make_settings(tmp_path / "new folder")
    async with open_database(settings) as database:
        with database.activate():
            async with transaction() as connection:
                await connection.execute_script("CREATE TABLE secrets (secret TEXT)")
            modes = {path.name: mode_of(path) for path in settings.data_dir.iterdir()}
    assert modes == {f"monitoring.db{suffix}": 0o600 for suffix in ("", "-wal", "-shm")}
    assert mode_of(settings.data_dir) == 0o700


async def test_a_file_of_an_older_release_becomes_private(tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    make_tables(settings)
    file = tmp_path / "monitoring.db"
    file.chmod(0o644)
    await migrate(settings)
    assert mode_of(file) == 0o600


async def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    with pytest.raises(SettingsError, match=r"^DATA_DIR: .* cannot be written"):
        await migrate(make_settings(tmp_path / "a file"))


@pytest.mark.parametrize("command", ["serve", "migrate"])
def test_a_folder_that_cannot_be_written_ends_the_start_with_one_sentence(
    tmp_path: Path, command: str
) -> None:
    installation = Installation(tmp_path)
    (tmp_path / "a file").touch()
    with running_command(installation, command, DATA_DIR=str(tmp_path / "a file")) as running:
        assert running.wait() == 2
        first, second = running.lines
    assert first == "The service cannot start:"
    assert second.startswith("DATA_DIR: ")
