"""Configurations: the client-settable fields of the document's schemas, and their defaults."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache

from monitoring.contract.document import Json, Node, published_document

Configuration = dict[str, Json]


def read_configuration(row: object, schema_name: str) -> Configuration:
    """Return a row's values for a schema's fields, in the order of the document."""
    return {name: getattr(row, name) for name in _fields_of(schema_name)}


def field_names(schema_name: str) -> Collection[str]:
    """Return the names of a schema's fields, in the order of the document."""
    return _fields_of(schema_name).keys()


def read_defaults(schema_name: str) -> Mapping[str, Json]:
    """Return the defaults of a schema's fields by name. Fields without a default are omitted."""
    return read_notes(schema_name, "default")


@cache
def read_notes(schema_name: str, keyword: str) -> Mapping[str, Json]:
    """Return the values of a schema keyword by field name. Fields without the keyword are omitted."""
    return {name: schema[keyword] for name, schema in _fields_of(schema_name).items() if keyword in schema}


def read_required(schema_name: str) -> Sequence[str]:
    """Return the names of a schema's required fields."""
    required: Sequence[str] = published_document().root["components"]["schemas"][schema_name]["required"]
    return required


@cache
def read_settings_defaults(schema_name: str, field: str) -> Mapping[str, Json]:
    """Return the defaults of an object field's members. Empty if the schema has no such field."""
    members = _fields_of(schema_name).get(field, {}).get("properties", {})
    follow = published_document().follow
    return {name: follow(schema)["default"] for name, schema in members.items()}


@cache
def member_of(union_name: str, kind: str) -> str:
    """Return the name of a union's schema for the discriminator value `kind`."""
    union = published_document().root["components"]["schemas"][union_name]
    reference: str = union["discriminator"]["mapping"][kind]
    return reference.rpartition("/")[2]


def complete(
    given: Mapping[str, Json],
    defaults: Mapping[str, Json],
    default_name: Callable[[Configuration], str],
) -> Configuration:
    """Return a configuration with defaults for omitted fields. `default_name` returns the default name."""
    configuration = {**defaults, **given}
    return {"name": default_name(configuration), **configuration}


def change(
    configuration: Mapping[str, Json],
    patch: Mapping[str, Json],
    defaults: Mapping[str, Json],
    default_name: Callable[[Configuration], str],
) -> Configuration:
    """Apply a merge patch. A field that the patch sets to null is reset to its default."""
    return complete(merge(configuration, patch), defaults, default_name)


def merge(target: Json, patch: Json) -> Json:
    """Return the result of a JSON merge patch (RFC 7396 §2), without changing `target`."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged


@cache
def _fields_of(schema_name: str) -> Mapping[str, Node]:
    document = published_document()
    properties = document.root["components"]["schemas"][schema_name]["properties"]
    return {name: document.follow(schema) for name, schema in properties.items()}
