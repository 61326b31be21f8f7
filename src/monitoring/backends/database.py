"""The database: SQLite in one process or a few, PostgreSQL for any number of machines."""

from __future__ import annotations

import os
import pkgutil
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from tortoise.context import TortoiseContext
from tortoise.exceptions import OperationalError
from tortoise.transactions import in_transaction

from monitoring.backends.database_clients.configuration import (
    MIGRATIONS_PACKAGE,
    MODEL_MODULES,
    configure_tortoise,
)
from monitoring.backends.errors import DatabaseUnavailable
from monitoring.backends.statements import is_postgres
from monitoring.backends.tortoise_bridge import activated, find_applied_migrations, make_table_of_migrations
from monitoring.backends.write_probe import write_probe
from monitoring.metrics import DATABASE_POOL_CONNECTIONS
from monitoring.settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from contextlib import AbstractContextManager

    from tortoise.backends.base.client import BaseDBAsyncClient

    from monitoring.backends.outage import Outage
    from monitoring.settings import Settings

# Two processes that migrate PostgreSQL at once take turns; the number is arbitrary and ours.
_MIGRATION_LOCK = 7_023_417_065

# Tortoise describes models in process-wide variables: other threads wait while one of them opens a database.
_initialising = Lock()


@dataclass(frozen=True, slots=True)
class Database:
    """An opened database. Rows reach it through Tortoise's models while it is active."""

    context: TortoiseContext

    def activate(self) -> AbstractContextManager[None]:
        """Make this the database of the models, in this task and those it starts."""
        return activated(self.context)

    @property
    def outage(self) -> Outage:
        """What the log tells of this database."""
        client: Any = self.context.db()
        return cast("Outage", client.outage)

    async def try_to_write(self) -> None:
        """Write a row, which tells nobody anything. Raises `DatabaseUnavailable`, also if the schema is old.

        A database whose disk is full, or which has become a standby, still answers whoever only reads.
        """
        if pending := await self.find_pending_migrations():
            raise DatabaseUnavailable(f"not migrated yet: {', '.join(pending)}")
        await write_probe(self.context.db())
        self.outage.end(wrote=True)

    async def find_pending_migrations(self) -> list[str]:
        """Return the names of migrations that were not applied yet. Raises `DatabaseUnavailable`."""
        try:
            applied = await find_applied_migrations(self.context.db())
        except OperationalError:  # there is no table of them yet
            applied = set()
        return [name for name in _list_migrations() if name not in applied]

    def measure_pool(self) -> None:
        """Bring the gauge of the connections up to date. SQLite has one, which is no pool."""
        client: Any = self.context.db()
        if is_postgres(client):
            for state, count in client.count_connections().items():
                DATABASE_POOL_CONNECTIONS.labels(state).set(count)


@asynccontextmanager
async def open_database(
    settings: Settings, model_modules: Sequence[str] = MODEL_MODULES
) -> AsyncIterator[Database]:
    """Open the database of the settings. It may be away: nothing connects before the first statement."""
    configuration = configure_tortoise(settings, model_modules)
    file_path = configuration["connections"].get("sqlite", {}).get("credentials", {}).get("file_path")
    database = Database(TortoiseContext())
    with database.activate(), _initialising:
        if file_path:
            _make_private_file(Path(file_path), settings)
        await database.context.init(config=configuration)
    try:
        yield database
    finally:
        with database.activate():
            await database.context.close_connections()


def _make_private_file(path: Path, settings: Settings) -> None:
    """Keep SQLite's file, and a folder made for it, from other users of the machine: it holds secrets.

    A file that is there is never opened, not even to see whether that works: when a process closes a file, it
    loses all its locks on it, those of SQLite too, and the next process to close the database deletes what
    was not moved into it yet (https://www.sqlite.org/howtocorrupt.html, 2.2).

    SQLite gives -wal and -shm files the mode of the database. Raises `SettingsError` if it cannot be written.
    """
    name = "DATA_DIR" if path.parent == settings.data_dir else "DATABASE_URL"
    file = path.resolve()  # as SQLite does, whose other files stand beside the one that a link leads to
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise SettingsError(f"{name}: {path} cannot be written ({error.strerror})") from error
    if not (file.is_file() and os.access(file, os.R_OK | os.W_OK)):
        raise SettingsError(f"{name}: {path} cannot be written")
    if not os.access(file.parent, os.W_OK):
        raise SettingsError(f"{name}: {path.parent} cannot be written")
    for each in (file, *(file.with_name(file.name + suffix) for suffix in ("-wal", "-shm"))):
        with suppress(FileNotFoundError, PermissionError):  # it may be another user's
            each.chmod(0o600)


@asynccontextmanager
async def transaction() -> AsyncIterator[BaseDBAsyncClient]:
    """Do everything inside or nothing. Inside another transaction it is a savepoint.

    SQLite takes the write lock at the start and waits for it. PostgreSQL may raise `TransactionConflict`: the
    same transaction may then be tried again. `DatabaseUnavailable` says that nothing was decided.
    """
    async with in_transaction() as connection:
        yield connection


async def migrate(settings: Settings, model_modules: Sequence[str] = MODEL_MODULES) -> list[str]:
    """Bring the tables up to date and return the names of the migrations that were applied.

    One transaction, one process at a time: safe at each start of each process. Raises `DatabaseUnavailable`.
    """
    # A process that serves does without these modules, and without our migrations: they are 3 MiB.
    from tortoise.migrations.executor import MigrationExecutor  # noqa: PLC0415

    applied = []
    async with open_database(settings, model_modules) as database:
        with database.activate():
            async with transaction() as connection:
                if connection.capabilities.dialect == "postgres":
                    await connection.execute_query(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
                executor = MigrationExecutor(connection, configure_tortoise(settings, model_modules)["apps"])
                await make_table_of_migrations(executor)
                await executor.migrate(
                    direction="forward",
                    progress=lambda event, _, name: applied.append(name) if event == "apply_done" else None,
                )
    return applied


def _list_migrations() -> list[str]:
    """Name all migrations, in their order, without loading them."""
    return sorted(module.name for module in pkgutil.iter_modules(import_module(MIGRATIONS_PACKAGE).__path__))
