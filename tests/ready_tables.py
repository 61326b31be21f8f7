"""Tables for test databases, copied from a migrated one, which takes a fraction of the time."""

from __future__ import annotations

import asyncio
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pydantic import SecretStr

import chosen_backends
from monitoring.backends.database import migrate
from real_servers import fill_database, is_empty, read_statements

if TYPE_CHECKING:
    from monitoring.settings import Settings

_making = Lock()  # two services may start on one database
_made: set[str] = set()
_originals: dict[str, str] = {}


def make_tables(settings: Settings) -> None:
    """Bring a database up to date. One that is empty becomes a copy."""
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
    """Return the URL of the database that all are copies of."""
    if kind not in _originals:
        folder = chosen_backends.folder()
        url = (
            chosen_backends.postgres().create_database()
            if kind == "postgresql"
            else f"sqlite://{folder}/made.db"
        )
        _migrate(settings.model_copy(update={"database_url": SecretStr(url)}))
        _originals[kind] = url
    return _originals[kind]


def _migrate(settings: Settings) -> None:
    with ThreadPoolExecutor(1) as thread:  # the caller's may have a loop that runs
        thread.submit(lambda: asyncio.run(migrate(settings))).result()


def _file(url: str) -> Path:
    return Path(unquote(url.removeprefix("sqlite://")))
