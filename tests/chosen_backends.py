"""The backends of a run: embedded ones, or PostgreSQL, Redis and S3, as `pytest --backends` says.

A run uses one kind only, because Tortoise's models know one dialect a process. The first test that needs a
server starts it, and each process of pytest-xdist has its own servers.
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
_furnishing = RLock()  # tests start services in threads
_times_asked = 0


def choose(kind: str) -> None:
    """Decide for all that is opened from now on."""
    global _kind  # noqa: PLW0603 - as process-wide as what it is about
    _kind = kind


def kind() -> str:
    """Return what was chosen, which everything here asks for that differs between the kinds."""
    global _times_asked  # noqa: PLW0603 - as process-wide as the choice
    _times_asked += 1
    return _kind


def times_asked() -> int:
    """Return how often anybody asked for the choice."""
    return _times_asked


def is_production() -> bool:
    return kind() == "production"


def settings_for(folder: Path) -> dict[str, str]:
    """Name the backends of the installation in a folder: the same ones ever after.

    On PostgreSQL, somebody has yet to make the database.
    """
    if not is_production():
        return {"blog_storage_url": f"file://{quote(str(folder))}/blog"}  # the rest follows from DATA_DIR
    with _furnishing:
        if folder not in _backends:
            _backends[folder] = {
                "database_url": postgres().name_database(),
                "redis_url": redis().new_database(),
                "blog_storage_url": s3().new_location(),
            }
        return _backends[folder]


def make_database(database_url: str, template_url: str | None = None) -> None:
    """Make the database of an installation on PostgreSQL unless it is there: empty, or a copy of another."""
    with _furnishing:
        if is_of_installation(database_url) and database_url not in _made_databases:
            postgres().make_database(database_url, template_url)
            _made_databases.add(database_url)


def environment_for(folder: Path) -> dict[str, str]:
    """Name the backends of a folder to a process. Its database is empty at first."""
    make_database(settings_for(folder).get("database_url", ""))
    named = {name.upper(): value for name, value in settings_for(folder).items()} | {"DATA_DIR": str(folder)}
    return named | (s3().environment if is_production() else {})


def read_blog(folder: Path) -> dict[str, bytes]:
    """Read every object in the blog storage of a folder by its path, without the service's help."""
    if is_production():
        location = settings_for(folder)["blog_storage_url"].removeprefix(f"{s3().url}/")
        objects = s3().read_objects(location)
        return {path.removeprefix(f"{location}/"): content for path, content in objects.items()}
    found = {}
    for path in (folder / "blog").rglob("*"):
        with suppress(FileNotFoundError, IsADirectoryError):  # a draft may have its real name by now
            found[path.relative_to(folder / "blog").as_posix()] = path.read_bytes()
    return found


@contextmanager
def blog_storage_away(folder: Path) -> Iterator[None]:
    """Let the blog storage of a folder fail until the block ends. What is stored stays."""
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
        except IsADirectoryError:  # a worker has made it again
            shutil.copytree(blog, aside, dirs_exist_ok=True)
            shutil.rmtree(blog)
    try:
        yield
    finally:
        blog.unlink()
        aside.rename(blog)


def clear_out(folder: Path) -> None:
    """Drop the databases of the installations below a folder: each takes megabytes."""
    for place in [place for place in _backends if place.is_relative_to(folder)]:
        if is_made(url := _backends.pop(place)["database_url"]):
            postgres().drop_database(url)


def is_of_installation(database_url: str) -> bool:
    """Say whether it is the PostgreSQL database of an installation here."""
    return any(backends["database_url"] == database_url for backends in _backends.values())


def is_made(database_url: str) -> bool:
    """Say whether the database of an installation was made, empty or not."""
    return database_url in _made_databases


@cache
def folder() -> Path:
    """Return a folder that is there until the run ends."""
    return Path(_running.enter_context(TemporaryDirectory()))


@cache
def postgres() -> PostgresServer:
    return _running.enter_context(running_postgres())


@cache
def redis() -> RedisServer:
    return _running.enter_context(running_redis())


@cache
def s3() -> S3Server:
    """Start the server, and tell this process how to speak to it: its variables are no settings of ours."""
    server = _running.enter_context(running_s3())
    os.environ.update(server.environment)
    return server


def close() -> None:
    """Stop the servers that were started."""
    _running.close()
