"""The database: SQLite in one process or a few, PostgreSQL for any number of machines."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from tortoise import context as tortoise_context
from tortoise.context import TortoiseContext
from tortoise.migrations.executor import MigrationExecutor
from tortoise.transactions import in_transaction

from monitoring.backends.engines.configuration import MODEL_MODULES, configure_tortoise

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from tortoise.backends.base.client import BaseDBAsyncClient

    from monitoring.settings import Settings

# Two processes that migrate PostgreSQL at once take turns; the number is arbitrary and ours.
_MIGRATION_LOCK = 7_023_417_065

# Tortoise keeps what it knows about models process-wide; apps in other threads wait while it is written.
_initialising = Lock()


@dataclass(frozen=True, slots=True)
class Database:
    """An opened database. Rows reach it through Tortoise's models while it is active."""

    context: TortoiseContext

    @contextmanager
    def activate(self) -> Iterator[None]:
        """Make this the database of the models, in this task and those it starts."""
        # TortoiseContext's own `with` keeps its token on the object: two requests at once would mix them up.
        token = tortoise_context._current_context.set(self.context)  # noqa: SLF001
        try:
            yield
        finally:
            tortoise_context._current_context.reset(token)  # noqa: SLF001

    async def check(self) -> None:
        """Ask the database for a sign of life. Raises `DatabaseUnavailable`."""
        await self.context.db().execute_query("SELECT 1")


@asynccontextmanager
async def open_database(
    settings: Settings, model_modules: Sequence[str] = MODEL_MODULES
) -> AsyncIterator[Database]:
    """Open the database of the settings. It may be away: nothing connects before the first statement."""
    configuration = configure_tortoise(settings, model_modules)
    file_path = configuration["connections"].get("sqlite", {}).get("credentials", {}).get("file_path")
    if file_path:
        Path(file_path).parent.mkdir(parents=True, exist_ok=True)
    database = Database(TortoiseContext())
    with database.activate(), _initialising:
        await database.context.init(config=configuration)
    try:
        yield database
    finally:
        with database.activate():
            await database.context.close_connections()


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
    applied = []
    async with open_database(settings, model_modules) as database:
        with database.activate():
            async with transaction() as connection:
                if connection.capabilities.dialect == "postgres":
                    await connection.execute_query(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
                executor = MigrationExecutor(connection, configure_tortoise(settings, model_modules)["apps"])
                # The executor reads its table before it makes it, which would end PostgreSQL's transaction.
                await executor.recorder.ensure_schema(executor._schema_editor(atomic=False))  # noqa: SLF001
                await executor.migrate(
                    direction="forward",
                    progress=lambda event, _, name: applied.append(name) if event == "apply_done" else None,
                )
    return applied


async def find_pending_migrations(settings: Settings) -> list[str]:
    """Return the names of migrations that were not applied yet. Raises `DatabaseUnavailable`."""
    async with open_database(settings) as database:
        with database.activate():
            # Tortoise takes a failing query for "nothing applied"; the end of a transaction tells it apart.
            async with transaction() as connection:
                executor = MigrationExecutor(connection, configure_tortoise(settings)["apps"])
                return [step.migration.name for step in await executor.plan()]
