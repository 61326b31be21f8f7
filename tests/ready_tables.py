"""Creates the tables of test databases as copies of a migrated database, which saves much time."""

from __future__ import annotations

import asyncio
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pydantic import SecretStr

import chosen_backends
from monitoring.backends.database import migrate
from real_servers import fill_database, is_empty, read_statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitoring.settings import Settings

_making = Lock()  # two services may start on the same database
_made: set[str] = set()
_originals: dict[str, str] = {}
_shared_folder: Path | None = None


def share(folder: Path) -> None:
    """Migrate only once for all processes that share this folder, because migrating takes seconds."""
    global _shared_folder  # noqa: PLW0603 - as process-wide as the originals
    _shared_folder = folder
    _originals.clear()


def make_tables(settings: Settings) -> None:
    """Migrate a database. If it is empty, copy a migrated database instead."""
    url = settings.database_url.get_secret_value()
    with _making:
        if url in _made:
            return
        if chosen_backends.is_of_installation(url) and not chosen_backends.is_made(url):
            chosen_backends.make_database(url, _original(settings, "postgresql"))
        elif url.startswith("sqlite://") and not _file(url).exists():
            shutil.copyfile(_file(_original(settings, "sqlite")), _file(url))
        elif url.startswith("postgresql://") and chosen_backends.is_production() and is_empty(url):
            fill_database(url, read_statements(_original(settings, "postgresql")))
        else:
            _migrate(settings)
        _made.add(url)


def _original(settings: Settings, kind: str) -> str:
    """Return the URL of the migrated database that is copied."""
    if kind not in _originals:
        with _locked(_shared_folder or chosen_backends.folder()) as folder:
            make = _make_postgresql if kind == "postgresql" else _make_sqlite
            _originals[kind] = make(settings, folder)
    return _originals[kind]


def _make_postgresql(settings: Settings, folder: Path) -> str:
    """Create a database on this process's server, from the SQL statements in the folder if they exist."""
    url, statements = chosen_backends.postgres().create_database(), folder / "made.sql"
    if statements.exists():
        fill_database(url, statements.read_text())
    else:
        _migrate(settings.model_copy(update={"database_url": SecretStr(url)}))
        statements.write_text(read_statements(url))
    return url


def _make_sqlite(settings: Settings, folder: Path) -> str:
    url = f"sqlite://{folder}/made.db"
    if not _file(url).exists():
        _migrate(settings.model_copy(update={"database_url": SecretStr(url)}))
    return url


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """Lock a folder, so that only one process uses it at a time."""
    with (folder / "lock").open("w") as lock:
        flock(lock, LOCK_EX)
        yield folder


def _migrate(settings: Settings) -> None:
    with ThreadPoolExecutor(1) as thread:  # the caller's thread may have a running event loop
        thread.submit(lambda: asyncio.run(migrate(settings))).result()


def _file(url: str) -> Path:
    return Path(unquote(url.removeprefix("sqlite://")))
