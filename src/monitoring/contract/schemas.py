"""OpenAPI 3.0 schemas as JSON Schema 2020-12: converted once, at the start."""

from collections.abc import Mapping
from typing import Literal

from monitoring.contract.document import Json

Direction = Literal["request", "response"]

HIDDEN_BY: Mapping[Direction, str] = {"request": "readOnly", "response": "writeOnly"}

# What these hold is a value, even where it looks like a schema.
VALUE_KEYWORDS = ("enum", "default", "example", "required")


def modern_schema(schema: Json, direction: Direction) -> Json:
    """Convert a Schema Object for one direction.

    References point into the registry's document of that direction (`urn:request`, `urn:response`);
    a property that may not travel in it is forbidden and no longer required.
    """
    if isinstance(schema, list):
        return [modern_schema(item, direction) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(schema.get("$ref"), str):
        return {"$ref": f"urn:{direction}{schema['$ref']}"}
    modern = {keyword: _modern_keyword(keyword, value, direction) for keyword, value in schema.items()}
    _convert_exclusive_bounds(modern)
    _forbid_hidden_properties(modern, schema, HIDDEN_BY[direction])
    return _with_null(modern) if schema.get("nullable") is True else modern


def _modern_keyword(keyword: str, value: Json, direction: Direction) -> Json:
    if keyword in VALUE_KEYWORDS:
        return value
    if keyword == "properties":
        return {name: modern_schema(schema, direction) for name, schema in value.items()}
    return modern_schema(value, direction)


def _with_null(schema: dict[str, Json]) -> dict[str, Json]:
    """Allow null as well. Without a type of its own the schema is a reference in `allOf` (decision 12)."""
    if not isinstance(schema.get("type"), str):
        return {"if": {"type": "null"}, "else": schema}
    options = schema.get("enum", [None])
    nullable_enum = {} if None in options else {"enum": [*options, None]}
    return schema | {"type": [schema["type"], "null"]} | nullable_enum


def _convert_exclusive_bounds(schema: dict[str, Json]) -> None:
    for exclusive, inclusive in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(schema.get(exclusive), bool) and schema.pop(exclusive):
            schema[exclusive] = schema.pop(inclusive)


def _forbid_hidden_properties(modern: dict[str, Json], schema: Mapping[str, Json], mark: str) -> None:
    hidden = {name for name, prop in schema.get("properties", {}).items() if prop.get(mark) is True}
    if hidden:
        modern["properties"].update(dict.fromkeys(hidden, False))
        modern["required"] = [name for name in schema.get("required", ()) if name not in hidden]
