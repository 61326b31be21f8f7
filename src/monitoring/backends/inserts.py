"""New rows, of several tables at once."""

from __future__ import annotations

from functools import cache
from itertools import count, groupby
from typing import TYPE_CHECKING, Any

import orjson
from tortoise.fields import UUIDField

from monitoring.backends.fields import JsonTextField
from monitoring.backends.statements import is_postgres, spell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from tortoise.backends.base.client import BaseDBAsyncClient
    from tortoise.models import Model


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
    for row in rows:
        row._saved_in_db = True  # noqa: SLF001 - as `save` does


@cache
def _insert_all(tables: Sequence[tuple[type[Model], int]]) -> str:
    numbers = count(1)
    *others, last = [_insert(model, rows, numbers) for model, rows in tables]
    named = ", ".join(f"insert_{number} AS ({sql})" for number, sql in enumerate(others))
    return f"WITH {named} {last}" if named else last


def _insert(model: type[Model], rows: int, numbers: count[int]) -> str:
    names = _columns_of(model)
    values = ", ".join(f"({', '.join(f'${next(numbers)}' for _ in names)})" for _ in range(rows))
    return f"INSERT INTO {model.describe()['table']} ({', '.join(names)}) VALUES {values}"  # noqa: S608 - names of our own


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
