"""Helpers for the document's schemas: JSON Schema 2020-12, with references into the document."""

from collections.abc import Mapping

from monitoring.contract.document import Json, Node

DOCUMENT_URI = "urn:openapi"


def with_absolute_references(schema: Json) -> Json:
    """Return a copy of a schema whose references are absolute, so that it can be compiled anywhere."""
    if isinstance(schema, list):
        return [with_absolute_references(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    absolute = {keyword: with_absolute_references(value) for keyword, value in schema.items()}
    if isinstance(reference := schema.get("$ref"), str):
        absolute["$ref"] = f"{DOCUMENT_URI}{reference}"
    return absolute


def types_of(schema: Node) -> tuple[str, ...]:
    """Return a schema's types. Empty if it has no `type`."""
    types = schema.get("type", ())
    return (types,) if isinstance(types, str) else tuple(types)


def without_null(schema: Node) -> Node:
    """Return the non-null alternative of `anyOf: [..., {type: 'null'}]`. Any other schema is unchanged."""
    ways = [way for way in schema.get("anyOf", ()) if way != {"type": "null"}]
    return ways[0] if len(ways) == 1 else schema
