"""What clients decide about a row: the fields of a schema of the document, and their defaults."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from monitoring.contract.document import Json, Node, published_document

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Configuration = dict[str, Json]


def read_configuration(row: object, schema_name: str) -> Configuration:
    """Read the fields of a schema from a row that has them, in the order of the document."""
    return {name: getattr(row, name) for name in _fields_of(schema_name)}


def field_names(schema_name: str) -> Collection[str]:
    """Return the names of a schema's fields, in the order of the document."""
    return _fields_of(schema_name).keys()


@cache
def read_defaults(schema_name: str) -> Mapping[str, Json]:
    """Return the default of every field that has one in the document."""
    return {
        name: schema["default"] for name, schema in _fields_of(schema_name).items() if "default" in schema
    }


@cache
def _fields_of(schema_name: str) -> Mapping[str, Node]:
    document = published_document()
    properties = document.root["components"]["schemas"][schema_name]["properties"]
    return {name: document.follow(schema) for name, schema in properties.items()}
