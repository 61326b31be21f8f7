"""The database: SQLite for a few processes, PostgreSQL for any number of machines."""

from __future__ import annotations

import asyncio
import os
import pkgutil
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, cast

from tortoise.backends.base.client import BaseDBAsyncClient
from tortoise.context import TortoiseContext
from tortoise.exceptions import OperationalError
from tortoise.transactions import in_transaction

from monitoring.backends.database_clients.configuration import (
    MIGRATIONS_PACKAGE,
    MODEL_MODULES,
    configure_tortoise,
)
from monitoring.backends.errors import DatabaseUnavailable, TablesInUse, describe_error
from monitoring.backends.outage import Outage
from monitoring.backends.statements import is_postgres
from monitoring.backends.tortoise_bridge import activated, find_applied_migrations, make_table_of_migrations
from monitoring.backends.write_probe import write_probe
from monitoring.metrics import DATABASE_POOL_CONNECTIONS
from monitoring.settings import Settings, SettingsError

# The advisory lock that serialises concurrent migrations of PostgreSQL. The number is arbitrary.
_MIGRATION_LOCK = 7_023_417_065

# Check results are stored constantly, in transactions that lock these tables in this order. A migration must
# lock them in the same order. Otherwise it could deadlock with such a transaction.
_FIRST_TABLES = ("watches", "monitors")

# The lock timeout of each attempt to migrate. While a migration waits for a lock, all later statements queue
# behind it. So after each timeout, the migration pauses for the same time to let them run. The first timeout
# is below PostgreSQL's deadlock timeout of one second. So in a deadlock, the migration gives up before
# PostgreSQL rolls back another transaction. Later timeouts are longer, because autovacuum yields only to
# sessions that have waited for a second.
LOCK_PATIENCE_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)

_OWN_TABLES = """
    SELECT relname FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    AND pg_has_role(relowner, 'MEMBER')
    ORDER BY array_position($1, relname::text), relname
"""

# Matches the name of a release's first migration, such as `NNNN_begin_0_3`. By counting such names, older
# code finds out how many later releases have migrated the database.
_BEGINS_A_RELEASE = re.compile(r"_begin_\d+_\d+$")

# Tortoise initialises models in process-wide variables, so only one thread at a time may open a database.
_initialising = Lock()


class Schema(NamedTuple):
    """The differences between the database's migrations and those of this release."""

    newest: str
    """The newest migration that this release has."""
    applied: list[str]
    pending: list[str]
    """Migrations of this release that are not applied to the database yet."""
    unknown: list[str]
    """Applied migrations that this release does not have, because they come from later releases."""

    @property
    def is_too_new(self) -> bool:
        """Whether two or more later releases have migrated the database.

        The second of them may have removed columns that this release uses.
        """
        return len([name for name in self.unknown if _BEGINS_A_RELEASE.search(name)]) > 1


@dataclass(frozen=True, slots=True)
class Database:
    """An open database. Tortoise's models use it while it is active."""

    context: TortoiseContext

    def activate(self) -> AbstractContextManager[None]:
        """Make this the models' database in this task and the tasks it starts."""
        return activated(self.context)

    @property
    def outage(self) -> Outage:
        """The database's outage state."""
        client: Any = self.context.db()
        return cast("Outage", client.outage)

    async def try_to_write(self) -> None:
        """Write a probe row. Raises `DatabaseUnavailable` on failure, or if the schema is unsuitable.

        Reads do not prove health: they succeed even if the disk is full or the server is a standby.
        """
        schema = await self.read_schema()
        if schema.pending:
            raise DatabaseUnavailable(f"not migrated yet: {', '.join(schema.pending)}")
        if schema.is_too_new:
            raise DatabaseUnavailable(f"migrated by later releases: {', '.join(schema.unknown)}")
        await write_probe(self.context.db())
        self.outage.end(wrote=True)

    async def read_schema(self) -> Schema:
        """Compare the applied migrations with this release's migrations. Raises `DatabaseUnavailable`."""
        try:
            applied = await find_applied_migrations(self.context.db())
        except OperationalError as error:
            raise DatabaseUnavailable(describe_error(error)) from error
        ours = _list_migrations()
        return Schema(
            newest=ours[-1],
            applied=sorted(applied),
            pending=[name for name in ours if name not in applied],
            unknown=sorted(applied.difference(ours)),
        )

    @property
    def has_clock(self) -> bool:
        """Whether the database has its own clock. SQLite has none."""
        return is_postgres(self.context.db())

    async def read_time(self) -> datetime:
        """Read PostgreSQL's clock. Raises `DatabaseUnavailable`."""
        [row] = await self.context.db().execute_query_dict("SELECT clock_timestamp() AS moment")
        moment: datetime = row["moment"]
        return moment

    def measure_pool(self) -> None:
        """Update the gauge of pool connections. SQLite has one connection and no pool."""
        client: Any = self.context.db()
        if is_postgres(client):
            for state, count in client.count_connections().items():
                DATABASE_POOL_CONNECTIONS.labels(state).set(count)


@asynccontextmanager
async def open_database(
    settings: Settings, model_modules: Sequence[str] = MODEL_MODULES
) -> AsyncIterator[Database]:
    """Open the configured database. No error is raised if it is unavailable.

    The connection is opened by the first statement.
    """
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
    """Create SQLite's file and folder with access for their owner only, because the file contains secrets.

    An existing file is never opened, not even to test access. A process that closes a file loses all its
    locks on the file, including SQLite's. The next process to close the database would then delete the
    write-ahead log (https://www.sqlite.org/howtocorrupt.html, 2.2).

    SQLite gives its -wal and -shm files the same permissions as the database file. Raises `SettingsError` if
    the file or folder is not writable.
    """
    name = "DATA_DIR" if path.parent == settings.data_dir else "DATABASE_URL"
    file = path.resolve()  # like SQLite, which puts its other files beside a symbolic link's target
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
        with suppress(FileNotFoundError, PermissionError):  # the file may belong to another user
            each.chmod(0o600)


# The callbacks to run after this task's transaction commits. None outside a transaction.
_after_commit: ContextVar[list[Callable[[], None]] | None] = ContextVar("after_commit", default=None)


@asynccontextmanager
async def transaction() -> AsyncIterator[BaseDBAsyncClient]:
    """Run the block in a transaction, or in a savepoint if it is nested.

    SQLite acquires the write lock at the start, waiting if necessary. Raises `TransactionConflict` on
    PostgreSQL if the transaction was rolled back and may be retried, and `DatabaseUnavailable` if the outcome
    is unknown.
    """
    outer, postponed = _after_commit.get(), list[Callable[[], None]]()
    token = _after_commit.set(postponed)
    try:
        async with in_transaction() as connection:
            yield connection
    finally:
        _after_commit.reset(token)
    if outer is not None:
        outer.extend(postponed)
        return
    for act in postponed:
        act()


def after_commit(act: Callable[[], None]) -> None:
    """Call `act` after the caller's transaction commits, or never if it is rolled back.

    Outside a transaction, `act` is called immediately. `act` must not raise.
    """
    postponed = _after_commit.get()
    if postponed is None:
        act()
    else:
        postponed.append(act)


async def migrate(settings: Settings, model_modules: Sequence[str] = MODEL_MODULES) -> list[str]:
    """Apply pending migrations, and return their names.

    All migrations run in one transaction, and only one process at a time migrates. So every process may call
    this when it starts, even while other processes run. Raises `TablesInUse`, with nothing changed, if other
    processes keep using the tables for about half a minute. Raises `DatabaseUnavailable` if the database does
    not respond.
    """
    async with open_database(settings, model_modules) as database:
        with database.activate():
            *others, last = LOCK_PATIENCE_SECONDS
            for patience_seconds in others:
                with suppress(TablesInUse):
                    return await _migrate_once(settings, model_modules, patience_seconds)
                await asyncio.sleep(patience_seconds)
            return await _migrate_once(settings, model_modules, last)


async def _migrate_once(
    settings: Settings, model_modules: Sequence[str], patience_seconds: float
) -> list[str]:
    # Imported here because serving processes need neither these modules nor our migrations (3 MiB).
    from tortoise.migrations.executor import MigrationExecutor  # noqa: PLC0415

    applied = []
    async with transaction() as connection:
        if is_postgres(connection):
            await connection.execute_query(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
        executor = MigrationExecutor(connection, configure_tortoise(settings, model_modules)["apps"])
        await make_table_of_migrations(executor)
        if is_postgres(connection) and await executor.plan():
            await _lock_tables(connection, patience_seconds)
        await executor.migrate(
            direction="forward",
            progress=lambda event, _, name: applied.append(name) if event == "apply_done" else None,
        )
    return applied


async def _lock_tables(connection: BaseDBAsyncClient, patience_seconds: float) -> None:
    """Lock all tables before the first one is changed. Raises `TablesInUse` after `patience_seconds`.

    A migration changes tables in its own order. If it locked them one by one, it would deadlock with
    transactions that lock in another order.
    """
    rows = await connection.execute_query_dict(_OWN_TABLES, [list(_FIRST_TABLES)])
    tables = ", ".join(f'"{row["relname"]}"' for row in rows)
    await connection.execute_query(f"SET LOCAL lock_timeout = {round(patience_seconds * 1000)}")
    try:
        await connection.execute_query(f"LOCK TABLE {tables}")
    except DatabaseUnavailable as error:
        if error.outage:
            raise
        raise TablesInUse(str(error)) from error


@cache
def _list_migrations() -> tuple[str, ...]:
    """Return the names of all migrations in order, without loading them."""
    folder = import_module(MIGRATIONS_PACKAGE).__path__
    return tuple(sorted(module.name for module in pkgutil.iter_modules(folder)))
