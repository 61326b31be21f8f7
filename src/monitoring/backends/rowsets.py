"""Many rows of values in one parameter of a statement, on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from monitoring.backends.statements import is_postgres

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tortoise.backends.base.client import BaseDBAsyncClient


def rowset(connection: BaseDBAsyncClient, types: Mapping[str, str], parameter: str = "$1") -> str:
    """Write the table `given` of the rows in a parameter, for FROM. Columns have PostgreSQL's types."""
    if is_postgres(connection):
        return f"json_to_recordset({parameter}::json) AS given({', '.join(map(' '.join, types.items()))})"
    columns = ", ".join(f"json_extract(value, '$.{name}') AS {name}" for name in types)
    return f"(SELECT {columns} FROM json_each({parameter})) AS given"  # noqa: S608 - names of our own


def pack(connection: BaseDBAsyncClient, rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows as that parameter. SQLite is given moments as the text in which it keeps them."""
    option = 0 if is_postgres(connection) else orjson.OPT_PASSTHROUGH_DATETIME
    return orjson.dumps(rows, default=str, option=option).decode()
