"""The PostgreSQL and the Redis of a run: throw-away servers, those of the tests, but durable."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg  # type: ignore[import-untyped]

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # the servers are those of the tests

import real_servers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Commits are on the disk, as in production; statistics and clean-up are asked for where they matter, so that
# none of it falls into a round by chance.
POSTGRES_OPTIONS = {
    "fsync": "on",
    "shared_buffers": "512MB",
    "autovacuum": "off",
    "max_wal_size": "4GB",
    "max_connections": "200",
}


class DurablePostgres(real_servers.PostgresServer):
    """PostgreSQL as operators run it."""

    def start(self) -> None:
        """Start the cluster, and wait until it answers."""
        options = "".join(f" -c {name}={value}" for name, value in POSTGRES_OPTIONS.items())
        listening = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1"
        log = str(self.folder / "log")
        cluster = str(self.folder / "cluster")
        self._run("pg_ctl", "-D", cluster, "-w", "-l", log, "-o", listening + options, "start")

    def url(self, database: str) -> str:
        """Name a database."""
        return f"postgresql://tests@127.0.0.1:{self.port}/{database}"

    def copy_database(self, name: str, template: str) -> str:
        """Copy a database nobody is connected to, and return the copy's URL."""
        self._ask_for("createdb", "-T", template, name)
        return self.url(name)

    def create(self, name: str) -> str:
        """Create an empty database and return its URL."""
        self._ask_for("createdb", name)
        return self.url(name)


@dataclass(frozen=True)
class Engines:
    """Both servers."""

    postgres: DurablePostgres
    redis: real_servers.RedisServer


@contextmanager
def running_engines() -> Iterator[Engines]:
    """Start both; they and all they hold end with the block."""
    real_servers.install_engines()
    with real_servers.running_redis() as redis, _running_postgres() as postgres:
        yield Engines(postgres, redis)


@contextmanager
def _running_postgres() -> Iterator[DurablePostgres]:
    folder = Path(tempfile.mkdtemp(prefix="bench-postgres-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    server = DurablePostgres(folder, real_servers.find_free_port())
    try:
        server.initialise()
        server.start()
        yield server
    finally:
        if (folder / "cluster" / "postmaster.pid").exists():
            server.stop()
        shutil.rmtree(folder)


async def execute(url: str, *statements: str) -> None:
    """Execute statements one after the other, each a transaction of its own."""
    connection = await asyncpg.connect(url, ssl=False)
    try:
        for statement in statements:
            await connection.execute(statement, timeout=600)
    finally:
        await connection.close()


async def fetch(url: str, statement: str, *values: object) -> Sequence[asyncpg.Record]:
    """Return the rows of a query."""
    connection = await asyncpg.connect(url, ssl=False)
    try:
        rows: Sequence[asyncpg.Record] = await connection.fetch(statement, *values)
        return rows
    finally:
        await connection.close()
