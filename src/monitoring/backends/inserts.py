"""New rows, of several tables at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import chain, count, groupby
from typing import TYPE_CHECKING, Any, TypeVar

import orjson
from tortoise.fields import UUIDField
from tortoise.models import Model

from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.fields import JsonTextField, uuid7
from monitoring.backends.rowsets import pack, rowset
from monitoring.backends.statements import is_postgres, spell
from monitoring.backends.tortoise_bridge import columns_of, field_of, make_row, note_saved, table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from tortoise.backends.base.client import BaseDBAsyncClient

Row = TypeVar("Row", bound=Model)


def new_row(model: type[Row], **values: object) -> Row:
    """Make a row as `construct` does, for a model of which only the id needs a new default each time.

    The other defaults are looked up once. `construct` does that for every row, which is most of its cost.
    """
    return make_row(model, _blank(model), {"id": uuid7(), **values})


async def insert_together(connection: BaseDBAsyncClient, *rows: Model) -> None:
    """Insert rows within the caller's transaction, those of one table beside each other.

    PostgreSQL takes all in one statement, in which foreign keys may name rows of the same statement. Moments
    must be in UTC, and only the database checks values.
    """
    tables = [(model, list(group)) for model, group in groupby(rows, type)]
    statements = [tables] if is_postgres(connection) else [[table] for table in tables]
    for statement in statements:
        sql = _insert_all(tuple((model, len(group)) for model, group in statement))
        values = [value for _, group in statement for row in group for value in _values_of(connection, row)]
        await connection.execute_query_dict(spell(connection, sql), values)
    for row in rows:
        note_saved(row)


@dataclass(frozen=True, slots=True)
class Guard:
    """An UPDATE with RETURNING, and its values. It changes one row, or none: then nothing may be inserted."""

    update: str
    values: Sequence[Any]


async def insert_guarded(guard: Guard, *rows: Model) -> bool:
    """Run the guard and insert the rows, or do nothing and return False. It needs no transaction.

    PostgreSQL takes both in one statement. A caller who waits there for the guard's row then sees what the
    others have made of it.
    """
    connection = current_backends().database.context.db()
    if is_postgres(connection):
        sql = _insert_all_guarded(guard.update, len(guard.values), tuple(map(type, rows)))
        values = [value for row in rows for value in _values_of(connection, row)]
        if not await connection.execute_query_dict(sql, [*guard.values, *values]):
            return False
        for row in rows:
            note_saved(row)
        return True
    async with transaction() as connection:
        if not await connection.execute_query_dict(spell(connection, guard.update), list(guard.values)):
            return False
        await insert_together(connection, *rows)
        return True


async def insert_owned(guard: str, groups: Sequence[tuple[UUID, Sequence[Model]]]) -> list[bool]:
    """Insert the groups of rows whose owners the guard returns. Return for each whether it was inserted.

    One statement, PostgreSQL only. The guard is an UPDATE with `RETURNING id`, which returns no owner twice.
    It reads the table `given`, which has a row for each group, with the column `owner`. All groups have rows
    of the same models, in the same order.
    """
    connection = current_backends().database.context.db()
    models = tuple(map(type, groups[0][1]))
    types = {"owner": "UUID", **_types_given(models)}
    given = []
    for owner, rows in groups:
        values = chain.from_iterable(_values_of(connection, row) for row in rows)
        given.append(dict(zip(types, (owner, *values), strict=True)))
    sql = _insert_all_owned(guard, models, rowset(connection, types))
    found = await connection.execute_query_dict(sql, [pack(connection, given)])
    owners = {each["id"] for each in found}
    for owner, rows in groups:
        if owner in owners:
            for row in rows:
                note_saved(row)
    return [owner in owners for owner, _ in groups]


@cache
def _blank(model: type[Model]) -> dict[str, Any]:
    return vars(model.construct())


@cache
def _insert_all_guarded(update: str, values: int, models: Sequence[type[Model]]) -> str:
    numbers = count(values + 1)
    *others, last = [
        f"INSERT INTO {table_of(model)} ({', '.join(_columns_of(model))})"  # noqa: S608 - names of our own
        f" SELECT {', '.join(f'${next(numbers)}' for _ in _columns_of(model))} FROM guard"
        for model in models
    ]
    named = [f"guard AS ({update})", *(f"insert_{number} AS ({sql})" for number, sql in enumerate(others))]
    return f"WITH {', '.join(named)} {last} RETURNING 1"


@cache
def _insert_all_owned(guard: str, models: Sequence[type[Model]], given: str) -> str:
    inserts = ", ".join(
        f"insert_{table_of(model)} AS (INSERT INTO {table_of(model)} ({', '.join(_columns_of(model))})"  # noqa: S608 - as above
        f" SELECT {', '.join(_names_given(model))} FROM given JOIN guard ON guard.id = owner)"
        for model in models
    )
    return f"WITH given AS (SELECT * FROM {given}), guard AS ({guard}), {inserts} SELECT id FROM guard"  # noqa: S608


@cache
def _types_given(models: Sequence[type[Model]]) -> Mapping[str, str]:
    """Return the names of these models' columns in `given`, and their types.

    A text has no length there: it would be cut in silence, where the column refuses it.
    """
    return {
        name: field_of(model, column).get_for_dialect("postgres", "SQL_TYPE").partition("(")[0]
        for model in models
        for name, column in zip(_names_given(model), _columns_of(model), strict=True)
    }


def _names_given(model: type[Model]) -> list[str]:
    return [f"{table_of(model)}_{column}" for column in _columns_of(model)]


@cache
def _insert_all(tables: Sequence[tuple[type[Model], int]]) -> str:
    numbers = count(1)
    *others, last = [_insert(model, rows, numbers) for model, rows in tables]
    named = ", ".join(f"insert_{number} AS ({sql})" for number, sql in enumerate(others))
    return f"WITH {named} {last}" if named else last


def _insert(model: type[Model], rows: int, numbers: count[int]) -> str:
    names = _columns_of(model)
    values = ", ".join(f"({', '.join(f'${next(numbers)}' for _ in names)})" for _ in range(rows))
    return f"INSERT INTO {table_of(model)} ({', '.join(names)}) VALUES {values}"  # noqa: S608 - as above


def _values_of(connection: BaseDBAsyncClient, row: Model) -> list[Any]:
    """Write a row's values for the driver: JSON is text, and so are SQLite's ids."""
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
