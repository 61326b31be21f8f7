"""SQL that says the same to both databases."""

from __future__ import annotations

import re
from functools import lru_cache

from tortoise.backends.base.client import BaseDBAsyncClient

# There is a statement for each number of rows that is inserted at once.
_REMEMBERED_STATEMENTS = 200

_PLACEHOLDER = re.compile(r"\$(\d+)")


def is_postgres(connection: BaseDBAsyncClient) -> bool:
    """Say which of the two dialects a connection speaks."""
    return connection.capabilities.dialect == "postgres"


def spell(connection: BaseDBAsyncClient, sql: str) -> str:
    """Write PostgreSQL's placeholders, `$1`, as the connection's database does: SQLite's are `?1`."""
    return sql if is_postgres(connection) else _spell_for_sqlite(sql)


@lru_cache(_REMEMBERED_STATEMENTS)
def _spell_for_sqlite(sql: str) -> str:
    return _PLACEHOLDER.sub(r"?\1", sql)
