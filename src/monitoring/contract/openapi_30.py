"""Converts the document to OpenAPI 3.0 at run time, for tools that support no newer version."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any

# The contents of these keywords are values, even if they look like schemas.
_VALUE_KEYWORDS = frozenset({"default", "enum", "example", "value"})
_UNKNOWN_TO_3_0 = frozenset({"if", "then", "else", "patternProperties", "propertyNames"})
# OpenAPI 3.0.4 defines `nullable` only beside `type`, so this is the only valid schema for null alone.
_NULL = {"type": "string", "nullable": True, "enum": [None]}
_ARRAY = {"type": "array", "items": {}}  # OpenAPI 3.0 requires `items` for an array


def derive_openapi_30(root: Mapping[str, Json]) -> dict[str, Any]:
    """Convert an OpenAPI 3.1 document to 3.0.

    Rules across several fields and rules for field names are omitted, because OpenAPI 3.0 cannot express
    them. Top-level `webhooks` become `x-webhooks`, which documentation tools for 3.0 support.
    """
    derived: dict[str, Any] = _rewrite({name: part for name, part in root.items() if name != "webhooks"})
    return {**derived, "openapi": "3.0.4", "x-webhooks": _rewrite(root.get("webhooks", {}))}


def _rewrite(node: Json) -> Json:
    if isinstance(node, list):
        return [_rewrite(item) for item in node]
    if not isinstance(node, dict):
        return node
    rewritten: dict[str, Json] = {}
    for keyword, value in node.items():
        if keyword == "properties":
            rewritten[keyword] = {name: _rewrite(schema) for name, schema in value.items()}
        elif keyword in _VALUE_KEYWORDS:
            rewritten[keyword] = value
        elif keyword not in _UNKNOWN_TO_3_0:
            rewritten |= _rewrite_keyword(keyword, value)
    return rewritten


def _rewrite_keyword(keyword: str, value: Json) -> dict[str, Json]:  # noqa: PLR0911 - a table
    match keyword, value:
        case "examples", [first, *_]:
            return {"example": first}
        case "const", _:
            return {"enum": [value]}
        case "type", [str() as only, "null"]:
            return {"type": only, "nullable": True}
        case "type", list():
            return {"anyOf": _each_alone(value)}
        case "not", {"type": list() as types}:  # generators would invent a type for `anyOf` within `not`
            return {"allOf": [{"not": alone} for alone in _each_alone(types)]}
        case "exclusiveMinimum" | "exclusiveMaximum", int() | float():
            return {keyword: True, keyword.replace("exclusiveM", "m"): value}
        case "anyOf", list():
            return {keyword: [_NULL if way == {"type": "null"} else _rewrite(way) for way in value]}
    return {keyword: _rewrite(value)}


def _each_alone(types: list[str]) -> list[dict[str, Any]]:
    return [_ARRAY if each == "array" else {"type": each} for each in types]
