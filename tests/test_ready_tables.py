"""Tests that only one process of a run migrates, because migrating takes seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import ready_tables
from monitoring.backends.database import migrate
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from pathlib import Path

    from monitoring.settings import Settings


@pytest.mark.night("it is about the tests' own haste")
@pytest.mark.anyio
async def test_processes_that_share_a_folder_migrate_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrated = []

    async def note_and_migrate(settings: Settings) -> None:
        migrated.append(settings.database_url)
        await migrate(settings)

    monkeypatch.setattr(ready_tables, "migrate", note_and_migrate)
    monkeypatch.setattr(ready_tables, "_originals", {})
    monkeypatch.setattr(ready_tables, "_shared_folder", None)
    for name in ("one", "other"):
        (folder := tmp_path / name).mkdir()
        ready_tables.share(tmp_path)  # as in another process, which knows only the folder
        async with temporary_backends(folder) as backends:
            assert await backends.database.context.db().execute_query_dict("SELECT id FROM monitors") == []
    assert len(migrated) == 1
