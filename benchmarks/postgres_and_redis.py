"""Starts the PostgreSQL and Redis servers of a run: temporary servers as in the tests, but durable."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg  # type: ignore[import-untyped]

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # the servers are those of the tests

import real_servers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

# Commits reach the disk, as in production. Statistics and vacuuming run only on request, so that they do not
# run during a round by chance.
POSTGRES_OPTIONS = {
    "fsync": "on",
    "shared_buffers": "512MB",
    "autovacuum": "off",
    "max_wal_size": "4GB",
    "max_connections": "200",
}


class DurablePostgres(real_servers.PostgresServer):
    """A PostgreSQL server that is configured as in production."""

    def start(self) -> None:
        """Start the cluster, and wait until it accepts connections."""
        options = "".join(f" -c {name}={value}" for name, value in POSTGRES_OPTIONS.items())
        listening = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1"
        log = str(self.folder / "log")
        cluster = str(self.folder / "cluster")
        self._run("pg_ctl", "-D", cluster, "-w", "-l", log, "-o", listening + options, "start")

    def url(self, database: str) -> str:
        """Return a database's URL."""
        return f"postgresql://tests@127.0.0.1:{self.port}/{database}"

    def copy_database(self, name: str, template: str) -> str:
        """Copy a database that has no connections, and return the copy's URL."""
        self.make_database(self.url(name), self.url(template))
        return self.url(name)

    def create(self, name: str) -> str:
        """Create an empty database and return its URL."""
        self.make_database(self.url(name))
        return self.url(name)


@dataclass(frozen=True)
class Backends:
    """The PostgreSQL and Redis servers of a run."""

    postgres: DurablePostgres
    redis: real_servers.RedisServer


@contextmanager
def running_backends() -> Iterator[Backends]:
    """Run both servers until the block ends. Then delete all their data."""
    with real_servers.running_redis() as redis, real_servers.running_cluster(DurablePostgres) as postgres:
        yield Backends(postgres, redis)


async def execute(url: str, *statements: str) -> None:
    """Execute SQL statements one at a time, each in its own transaction."""
    connection = await asyncpg.connect(url, ssl=False)
    try:
        for statement in statements:
            await connection.execute(statement, timeout=600)
    finally:
        await connection.close()


async def fetch(url: str, statement: str, *values: object) -> Sequence[asyncpg.Record]:
    """Return the rows of a query."""
    async with connecting(url) as connection:
        rows: Sequence[asyncpg.Record] = await connection.fetch(statement, *values)
        return rows


@asynccontextmanager
async def connecting(url: str) -> AsyncIterator[asyncpg.Connection]:
    """Open a connection until the block ends.

    Connecting takes PostgreSQL milliseconds, so do it outside of measurements.
    """
    connection = await asyncpg.connect(url, ssl=False)
    try:
        yield connection
    finally:
        await connection.close()
