"""Inserts rows into several tables together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import count, groupby
from typing import Any
from uuid import UUID

import orjson
from tortoise.backends.base.client import BaseDBAsyncClient
from tortoise.fields import UUIDField
from tortoise.models import Model

from monitoring.backends.fields import JsonTextField
from monitoring.backends.statements import is_postgres, spell
from monitoring.backends.tortoise_bridge import columns_of, field_of, note_saved, table_of


async def insert_together(connection: BaseDBAsyncClient, *rows: Model) -> None:
    """Insert rows into several tables in the caller's transaction. `rows` must be grouped by table.

    PostgreSQL inserts all rows in one statement, so foreign keys may refer to rows in any order. Times must
    be in UTC. Values are validated only by the database.
    """
    tables = [(model, list(group)) for model, group in groupby(rows, type)]
    statements = [tables] if is_postgres(connection) else [[table] for table in tables]
    for statement in statements:
        sql = _insert_all(tuple((model, len(group)) for model, group in statement))
        values = [value for _, group in statement for row in group for value in _values_of(connection, row)]
        await connection.execute_query_dict(spell(connection, sql), values)
    for row in rows:
        note_saved(row)


@cache
def _insert_all(tables: Sequence[tuple[type[Model], int]]) -> str:
    numbers = count(1)
    *others, last = [_insert(model, rows, numbers) for model, rows in tables]
    named = ", ".join(f"insert_{number} AS ({sql})" for number, sql in enumerate(others))
    return f"WITH {named} {last}" if named else last


def _insert(model: type[Model], rows: int, numbers: count[int]) -> str:
    names = _columns_of(model)
    values = ", ".join(f"({', '.join(f'${next(numbers)}' for _ in names)})" for _ in range(rows))
    return f"INSERT INTO {table_of(model)} ({', '.join(names)}) VALUES {values}"  # noqa: S608 - names of our own


def _values_of(connection: BaseDBAsyncClient, row: Model) -> list[Any]:
    """Convert a row's values for the driver: JSON to text, and ids to text for SQLite."""
    values = [getattr(row, name) for name in _columns_of(type(row))]
    for position, write in _writers_of(type(row), is_postgres(connection)):
        values[position] = write(values[position])
    return values


_columns_of = cache(columns_of)


@cache
def _writers_of(model: type[Model], on_postgres: bool) -> list[tuple[int, Callable[[Any], Any]]]:  # noqa: FBT001 - for the cache
    fields = [field_of(model, name) for name in _columns_of(model)]
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
