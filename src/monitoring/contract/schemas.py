"""How schemas of the document are read: JSON Schema 2020-12, with references into the document."""

from collections.abc import Mapping

from monitoring.contract.document import Json, Node

DOCUMENT_URI = "urn:openapi"


def with_absolute_references(schema: Json) -> Json:
    """Copy a schema so that its references lead into the registered document, wherever it is compiled."""
    if isinstance(schema, list):
        return [with_absolute_references(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    absolute = {keyword: with_absolute_references(value) for keyword, value in schema.items()}
    if isinstance(reference := schema.get("$ref"), str):
        absolute["$ref"] = f"{DOCUMENT_URI}{reference}"
    return absolute


def types_of(schema: Node) -> tuple[str, ...]:
    """Return the names in `type`, which holds one or several; none if a schema has no `type`."""
    types = schema.get("type", ())
    return (types,) if isinstance(types, str) else tuple(types)


def without_null(schema: Node) -> Node:
    """Return the other way of `anyOf: [..., {type: 'null'}]`; any other schema is returned as it is."""
    ways = [way for way in schema.get("anyOf", ()) if way != {"type": "null"}]
    return ways[0] if len(ways) == 1 else schema
