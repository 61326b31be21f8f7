"""Access to undocumented names of Tortoise 1.1.

tests/backends/test_tortoise_assumptions.py checks each of them:

- The SQLite client's `_connection` is aiosqlite's. `database_clients/asyncpg.py` lists what is overridden in
  the asyncpg client.
- `Model._meta` has `db_table`, `fields_map`, and the stored columns in `fields_db_projection`.
- `Model._saved_in_db` determines whether `save` inserts or updates.
- `tortoise.context._current_context` is the context variable that determines the models' database.
- `MigrationExecutor._schema_editor` creates the editor that creates tables. The table `tortoise_migrations`
  contains the names of the applied migrations.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tortoise import context as tortoise_context
from tortoise.backends.base.client import BaseDBAsyncClient
from tortoise.context import TortoiseContext
from tortoise.exceptions import OperationalError
from tortoise.fields.base import Field
from tortoise.models import Model

from monitoring.backends.statements import is_postgres

if TYPE_CHECKING:
    from tortoise.migrations.executor import MigrationExecutor


@contextmanager
def activated(context: TortoiseContext) -> Iterator[None]:
    """Make this the models' context in this task and the tasks it starts.

    TortoiseContext's own `with` stores its token on the object, so concurrent requests would overwrite it.
    """
    token = tortoise_context._current_context.set(context)  # noqa: SLF001
    try:
        yield
    finally:
        tortoise_context._current_context.reset(token)  # noqa: SLF001


async def make_table_of_migrations(executor: MigrationExecutor) -> None:
    """Create the table of applied migrations if it is missing.

    The executor would read the missing table first, and the error would abort PostgreSQL's transaction.
    """
    await executor.recorder.ensure_schema(executor._schema_editor(atomic=False))  # noqa: SLF001


async def find_applied_migrations(connection: BaseDBAsyncClient) -> set[str]:
    """Return the names of the applied migrations. Raises `OperationalError` if they cannot be read.

    A MigrationExecutor would load all migrations, and would interpret any error as "no migrations".
    """
    try:
        rows = await connection.execute_query_dict('SELECT "name" FROM "tortoise_migrations"')
    except OperationalError:
        [there] = await connection.execute_query_dict(
            "SELECT count(to_regclass('tortoise_migrations')) AS tables"
            if is_postgres(connection)
            else "SELECT count(*) AS tables FROM sqlite_master WHERE name = 'tortoise_migrations'"
        )
        if there["tables"]:
            raise
        return set()
    return {row["name"] for row in rows}


def table_of(model: type[Model]) -> str:
    """Return a model's table name."""
    return model._meta.db_table  # noqa: SLF001


def columns_of(model: type[Model]) -> list[str]:
    """Return a model's column names, which are its field names."""
    return list(model._meta.fields_db_projection)  # noqa: SLF001


def field_of(model: type[Model], name: str) -> Field[Any]:
    """Return a model's field with this name."""
    return model._meta.fields_map[name]  # noqa: SLF001


def note_saved(row: Model) -> None:
    """Mark a row as stored, as `save` does."""
    row._saved_in_db = True  # noqa: SLF001
