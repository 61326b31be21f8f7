"""Passes many rows in one statement parameter, on both databases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson
from tortoise.backends.base.client import BaseDBAsyncClient

from monitoring.backends.statements import is_postgres


def rowset(connection: BaseDBAsyncClient, types: Mapping[str, str]) -> str:
    """Return SQL for a FROM clause that reads the rows in $1 as a table named `given`.

    `types` are PostgreSQL column types by column name.
    """
    if is_postgres(connection):
        return f"json_to_recordset($1::json) AS given({', '.join(map(' '.join, types.items()))})"
    columns = ", ".join(f"json_extract(value, '$.{name}') AS {name}" for name in types)
    return f"(SELECT {columns} FROM json_each($1)) AS given"  # noqa: S608 - names of our own


def id_rowset(connection: BaseDBAsyncClient) -> str:
    """Return SQL for a FROM clause that reads the ids in $1 as a table named `given` with the column `id`."""
    if is_postgres(connection):
        return "unnest($1::uuid[]) AS given(id)"
    return "(SELECT value AS id FROM json_each($1)) AS given"


def pack_ids(connection: BaseDBAsyncClient, ids: Iterable[UUID]) -> list[UUID] | str:
    """Return ids as the parameter $1 of `id_rowset`."""
    return list(ids) if is_postgres(connection) else orjson.dumps(list(ids)).decode()


def pack(connection: BaseDBAsyncClient, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as the parameter $1 of `rowset`. For SQLite, times are in the format that it stores."""
    option = 0 if is_postgres(connection) else orjson.OPT_PASSTHROUGH_DATETIME
    return orjson.dumps(rows, default=str, option=option).decode()
