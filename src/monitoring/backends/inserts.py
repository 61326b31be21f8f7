"""New rows, of several tables at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import count, groupby
from typing import TYPE_CHECKING, Any, TypeVar

import orjson
from tortoise.fields import UUIDField
from tortoise.models import Model

from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.fields import JsonTextField, uuid7
from monitoring.backends.statements import is_postgres, spell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from tortoise.backends.base.client import BaseDBAsyncClient

Row = TypeVar("Row", bound=Model)


def new_row(model: type[Row], **values: object) -> Row:
    """Make a row as `construct` does, for a model whose id is all that is made anew by default.

    Its other defaults are looked up once. `construct` does that for every row, the most of what it takes.
    """
    row = model.__new__(model)
    vars(row).update(_blank(model), id=uuid7(), _await_when_save={})
    vars(row).update(values)
    return row


async def insert_together(connection: BaseDBAsyncClient, *rows: Model) -> None:
    """Insert rows within the caller's transaction, those of one table beside each other.

    PostgreSQL takes all in one statement, in which foreign keys may name rows that come with it. Moments are
    in UTC, and nothing is checked that the database does not check.
    """
    tables = [(model, list(group)) for model, group in groupby(rows, type)]
    statements = [tables] if is_postgres(connection) else [[table] for table in tables]
    for statement in statements:
        sql = _insert_all(tuple((model, len(group)) for model, group in statement))
        values = [value for _, group in statement for row in group for value in _values_of(connection, row)]
        await connection.execute_query_dict(spell(connection, sql), values)
    _note_saved(rows)


@dataclass(frozen=True, slots=True)
class Guard:
    """An UPDATE with RETURNING that changes the row which lets others in, or none; and its values."""

    update: str
    values: Sequence[Any]


async def insert_guarded(guard: Guard, *rows: Model) -> bool:
    """Update what guards the rows and insert them, or do nothing and return False: no transaction is needed.

    PostgreSQL takes all of it in one statement; who waits there for the guard's row sees what the others
    have made of it.
    """
    connection = current_backends().database.context.db()
    if is_postgres(connection):
        sql = _insert_all_guarded(guard.update, len(guard.values), tuple(map(type, rows)))
        values = [value for row in rows for value in _values_of(connection, row)]
        if not await connection.execute_query_dict(sql, [*guard.values, *values]):
            return False
        _note_saved(rows)
        return True
    async with transaction() as connection:
        if not await connection.execute_query_dict(spell(connection, guard.update), list(guard.values)):
            return False
        await insert_together(connection, *rows)
        return True


@cache
def _blank(model: type[Model]) -> dict[str, Any]:
    return vars(model.construct())


@cache
def _insert_all_guarded(update: str, values: int, models: Sequence[type[Model]]) -> str:
    numbers = count(values + 1)
    *others, last = [
        f"INSERT INTO {_table_of(model)} ({', '.join(_columns_of(model))})"  # noqa: S608 - names of our own
        f" SELECT {', '.join(f'${next(numbers)}' for _ in _columns_of(model))} FROM guard"
        for model in models
    ]
    named = [f"guard AS ({update})", *(f"insert_{number} AS ({sql})" for number, sql in enumerate(others))]
    return f"WITH {', '.join(named)} {last} RETURNING 1"


@cache
def _insert_all(tables: Sequence[tuple[type[Model], int]]) -> str:
    numbers = count(1)
    *others, last = [_insert(model, rows, numbers) for model, rows in tables]
    named = ", ".join(f"insert_{number} AS ({sql})" for number, sql in enumerate(others))
    return f"WITH {named} {last}" if named else last


def _insert(model: type[Model], rows: int, numbers: count[int]) -> str:
    names = _columns_of(model)
    values = ", ".join(f"({', '.join(f'${next(numbers)}' for _ in names)})" for _ in range(rows))
    return f"INSERT INTO {_table_of(model)} ({', '.join(names)}) VALUES {values}"  # noqa: S608 - as above


def _note_saved(rows: Sequence[Model]) -> None:
    for row in rows:
        row._saved_in_db = True  # noqa: SLF001 - as `save` does


def _table_of(model: type[Model]) -> str:
    return model._meta.db_table  # noqa: SLF001 - as Tortoise's own contributions do


def _values_of(connection: BaseDBAsyncClient, row: Model) -> list[Any]:
    """Write a row's values for the driver: JSON is text, and so are SQLite's ids."""
    values = [getattr(row, name) for name in _columns_of(type(row))]
    for position, write in _writers_of(type(row), is_postgres(connection)):
        values[position] = write(values[position])
    return values


@cache
def _columns_of(model: type[Model]) -> list[str]:
    """Name the columns of a model, which are the names of its fields."""
    return list(model._meta.fields_db_projection)  # noqa: SLF001 - there is no public list of them


@cache
def _writers_of(model: type[Model], on_postgres: bool) -> list[tuple[int, Callable[[Any], Any]]]:  # noqa: FBT001 - for the cache
    fields = [model._meta.fields_map[name] for name in _columns_of(model)]  # noqa: SLF001 - as above
    return [
        *(
            (position, _write_json)
            for position, field in enumerate(fields)
            if isinstance(field, JsonTextField)
        ),
        *(
            (position, _write_id)
            for position, field in enumerate(fields)
            if isinstance(field, UUIDField) and not on_postgres
        ),
    ]


def _write_json(value: object) -> str | None:
    return None if value is None else orjson.dumps(value).decode()


def _write_id(value: UUID | None) -> str | None:
    return None if value is None else str(value)
