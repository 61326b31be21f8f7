"""Differences between the SQL of both databases."""

from __future__ import annotations

import re
from functools import lru_cache

from tortoise.backends.base.client import BaseDBAsyncClient

# There is a statement for each number of rows that is inserted at once.
_REMEMBERED_STATEMENTS = 200

_PLACEHOLDER = re.compile(r"\$(\d+)")


def is_postgres(connection: BaseDBAsyncClient) -> bool:
    """Return whether a connection's dialect is PostgreSQL's."""
    return connection.capabilities.dialect == "postgres"


def spell(connection: BaseDBAsyncClient, sql: str) -> str:
    """Translate PostgreSQL's placeholders (`$1`) for the connection's database: SQLite's are `?1`."""
    return sql if is_postgres(connection) else _spell_for_sqlite(sql)


@lru_cache(_REMEMBERED_STATEMENTS)
def _spell_for_sqlite(sql: str) -> str:
    return _PLACEHOLDER.sub(r"?\1", sql)
