"""SQL differences between SQLite and PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from uuid import UUID

from tortoise.backends.base.client import BaseDBAsyncClient

# The number of cached statements. INSERTs with different numbers of rows are different statements.
_REMEMBERED_STATEMENTS = 200

_PLACEHOLDER = re.compile(r"\$(\d+)")


def is_postgres(connection: BaseDBAsyncClient) -> bool:
    """Return whether a connection is to PostgreSQL."""
    return connection.capabilities.dialect == "postgres"


def spell(connection: BaseDBAsyncClient, sql: str) -> str:
    """Translate PostgreSQL placeholders (`$1`) to the connection's dialect. SQLite's are `?1`."""
    return sql if is_postgres(connection) else _spell_for_sqlite(sql)


def spell_values(connection: BaseDBAsyncClient, values: Iterable[object]) -> list[object]:
    """Convert parameter values for the driver. SQLite stores ids and times (in UTC) as text."""
    return list(values) if is_postgres(connection) else [_spell_value_for_sqlite(value) for value in values]


@lru_cache(_REMEMBERED_STATEMENTS)
def _spell_for_sqlite(sql: str) -> str:
    return _PLACEHOLDER.sub(r"?\1", sql)


def _spell_value_for_sqlite(value: object) -> object:
    if isinstance(value, datetime):
        return str(value.astimezone(UTC))
    return str(value) if isinstance(value, UUID) else value
