"""Rows that the database itself writes as JSON: text for the answer, without an object for every value."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tortoise.fields import BooleanField, DatetimeField, IntField, UUIDField

from monitoring.backends.fields import JsonTextField
from monitoring.backends.tortoise_bridge import field_of, table_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tortoise.fields.base import Field
    from tortoise.models import Model

# Moments as `write_timestamp` writes them. SQLite keeps them as `str(datetime)` does: always in UTC, and
# without the microseconds when there are none.
_MOMENT_ON_POSTGRES = """'"' || to_char({0} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '"'"""
_MOMENT_ON_SQLITE = (
    "substr({0}, 1, 10) || 'T' || substr({0}, 12, 8)"
    " || iif(substr({0}, 20, 1) = '.', substr({0}, 20, 7), '.000000') || 'Z'"
)


class KeptMembers(NamedTuple):
    """Members of an object in a row, which a column of PostgreSQL keeps as JSON, without braces."""

    column: str
    names: Sequence[str]


def write_column(model: type[Model], name: str, *, on_postgres: bool) -> str:
    """Write a column as a member of `write_object`."""
    pattern = (_on_postgres if on_postgres else _on_sqlite)(field_of(model, name))
    return pattern.format(f"{table_of(model)}.{name}")


def write_object(members: Mapping[str, str], *, on_postgres: bool, kept: KeptMembers | None = None) -> str:
    """Write an expression whose value is an object as text, made of SQL expressions by name, in their order.

    It is byte for byte what orjson would write, for text, integers and what `write_column` writes. PostgreSQL
    takes `kept` members as they are.
    """
    if on_postgres:  # a fifth less than `row_to_json`, which parses what is JSON already
        first, *later = kept.names if kept else [""]
        written = ", ',', ".join(
            kept.column if kept and name == first else f"""'"{name}":', coalesce({expression}, 'null')"""
            for name, expression in members.items()
            if name not in later
        )
        return f"concat('{{', {written}, '}}')"
    pairs = ", ".join(f"'{name}', {expression}" for name, expression in members.items())
    return f"json_object({pairs})"


def _on_postgres(field: Field) -> str:  # type: ignore[type-arg]
    if isinstance(field, DatetimeField):
        return _MOMENT_ON_POSTGRES
    if isinstance(field, BooleanField | IntField):
        return "{0}::text"
    if isinstance(field, UUIDField):
        return "'\"' || {0} || '\"'"
    return "{0}" if isinstance(field, JsonTextField) else "to_json({0}::text)::text"


def _on_sqlite(field: Field) -> str:  # type: ignore[type-arg]
    if isinstance(field, DatetimeField):
        return _MOMENT_ON_SQLITE
    if isinstance(field, BooleanField):
        return "json(iif({0}, 'true', 'false'))"
    return "json({0})" if isinstance(field, JsonTextField) else "{0}"
