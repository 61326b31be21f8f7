"""The backends of a run: embedded ones, or PostgreSQL, Redis and S3, as `pytest --backends` specifies.

A run uses only one kind, because Tortoise's models support one SQL dialect per process. The first test that
needs a server starts it, and each process of pytest-xdist has its own servers.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from typing import TYPE_CHECKING
from urllib.parse import quote

from real_servers import PostgresServer, RedisServer, running_postgres, running_redis
from s3_server import S3Server, running_s3

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ("embedded", "production")

_kind = "embedded"
_running = ExitStack()
_backends: dict[Path, dict[str, str]] = {}
_made_databases: set[str] = set()
_furnishing = RLock()  # because tests start services in threads
_times_asked = 0


def choose(kind: str) -> None:
    """Choose the kind of backends for everything that is opened from now on."""
    global _kind  # noqa: PLW0603 - as process-wide as what it is about
    _kind = kind


def kind() -> str:
    """Return the chosen kind of backends. All code here that depends on the kind calls this function."""
    global _times_asked  # noqa: PLW0603 - as process-wide as the choice
    _times_asked += 1
    return _kind


def times_asked() -> int:
    """Return how often `kind` was called."""
    return _times_asked


def is_production() -> bool:
    return kind() == "production"


def settings_for(folder: Path) -> dict[str, str]:
    """Return the settings of an installation's backends. They stay the same for the same folder.

    On PostgreSQL, the database does not exist yet.
    """
    if not is_production():
        return {"blog_storage_url": f"file://{quote(str(folder))}/blog"}  # DATA_DIR determines the rest
    with _furnishing:
        if folder not in _backends:
            _backends[folder] = {
                "database_url": postgres().name_database(),
                "redis_url": redis().new_database(),
                "blog_storage_url": s3().new_location(),
            }
        return _backends[folder]


def make_database(database_url: str, template_url: str | None = None) -> None:
    """Create an installation's PostgreSQL database, empty or as a copy, unless it exists."""
    with _furnishing:
        if is_of_installation(database_url) and database_url not in _made_databases:
            postgres().make_database(database_url, template_url)
            _made_databases.add(database_url)


def environment_for(folder: Path) -> dict[str, str]:
    """Return environment variables that give a process the backends of a folder.

    Its database is empty at first.
    """
    make_database(settings_for(folder).get("database_url", ""))
    named = {name.upper(): value for name, value in settings_for(folder).items()} | {"DATA_DIR": str(folder)}
    return named | (s3().environment if is_production() else {})


def read_blog(folder: Path) -> dict[str, bytes]:
    """Return every object in a folder's blog storage by path, without using the service."""
    if is_production():
        location = settings_for(folder)["blog_storage_url"].removeprefix(f"{s3().url}/")
        objects = s3().read_objects(location)
        return {path.removeprefix(f"{location}/"): content for path, content in objects.items()}
    found = {}
    for path in (folder / "blog").rglob("*"):
        with suppress(FileNotFoundError, IsADirectoryError):  # a draft may have been renamed since
            found[path.relative_to(folder / "blog").as_posix()] = path.read_bytes()
    return found


@contextmanager
def blog_storage_away(folder: Path) -> Iterator[None]:
    """Make a folder's blog storage unavailable until the block ends. Stored objects stay."""
    if is_production():
        s3().stop()
        try:
            yield
        finally:
            s3().start()
        return
    blog, aside = folder / "blog", folder / "blog that is away"
    blog.rename(aside)
    while not blog.is_file():
        try:
            blog.write_text("a file where a folder should be")
        except IsADirectoryError:  # a worker has created the folder again
            shutil.copytree(blog, aside, dirs_exist_ok=True)
            shutil.rmtree(blog)
    try:
        yield
    finally:
        blog.unlink()
        aside.rename(blog)


def clear_out(folder: Path) -> None:
    """Drop the databases of the installations under a folder, because each takes megabytes."""
    for place in [place for place in _backends if place.is_relative_to(folder)]:
        if is_made(url := _backends.pop(place)["database_url"]):
            postgres().drop_database(url)


def is_of_installation(database_url: str) -> bool:
    """Return whether a URL is the PostgreSQL database of an installation in this process."""
    return any(backends["database_url"] == database_url for backends in _backends.values())


def is_made(database_url: str) -> bool:
    """Return whether an installation's database was created, empty or not."""
    return database_url in _made_databases


@cache
def folder() -> Path:
    """Return a folder that exists until the run ends."""
    return Path(_running.enter_context(TemporaryDirectory()))


@cache
def postgres() -> PostgresServer:
    return _running.enter_context(running_postgres())


@cache
def redis() -> RedisServer:
    return _running.enter_context(running_redis())


@cache
def s3() -> S3Server:
    """Start the S3 server, and set its environment variables in this process.

    These variables are not settings of the service.
    """
    server = _running.enter_context(running_s3())
    os.environ.update(server.environment)
    return server


def close() -> None:
    """Stop the servers that were started."""
    _running.close()
