"""Creates the published document: a copy without internal keywords and with fewer repetitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Json: TypeAlias = Any

# The contents of the keywords in `_VALUES` are data, and the keys inside the keywords in `_NAMES` are names.
# Both may look like keywords.
_VALUES = frozenset({"const", "default", "enum", "example", "value"})
_NAMES = frozenset({"properties", "patternProperties", "mapping"})


def publish(root: Mapping[str, Json]) -> dict[str, Json]:
    """Return a copy of the document for clients.

    Headers that the document's description explains (`x-told-once`) are not listed with each response. Fields
    have no examples, because each body has a complete example.
    """
    published: dict[str, Json] = without_notes(root)
    components = published["components"]
    for name, header in root["components"].get("headers", {}).items():
        if "x-told-once" in header:
            del components["headers"][name]
            _leave_out_header({"$ref": f"#/components/headers/{name}"}, published)
    for node in _nodes_in(components.get("schemas", {})):
        node.pop("examples", None)
    return published


def without_notes(node: Json) -> Json:
    """Return a copy of a document or a part of it without internal keywords, which begin with `x-`.

    A discriminator's single value is also given as `enum`, for generators that do not support `const`.
    """
    if isinstance(node, list):
        return [without_notes(item) for item in node]
    if not isinstance(node, dict):
        return node
    published: dict[str, Json] = {}
    for keyword, value in node.items():
        if keyword in _VALUES:
            published[keyword] = value
        elif keyword in _NAMES:
            published[keyword] = {name: without_notes(part) for name, part in value.items()}
        elif not keyword.startswith("x-"):
            published[keyword] = without_notes(value)
    if "const" in node and "type" in node:
        published["enum"] = [node["const"]]
    return published


def _leave_out_header(reference: Mapping[str, Json], published: Mapping[str, Json]) -> None:
    for node in _nodes_in([published["paths"], published["components"].get("responses", {})]):
        headers = {name: header for name, header in node.get("headers", {}).items() if header != reference}
        if headers:
            node["headers"] = headers
        else:
            node.pop("headers", None)


def _nodes_in(node: Json) -> Iterator[dict[str, Json]]:
    """Yield every object in a part of the document, except values and maps of names."""
    if isinstance(node, list):
        for item in node:
            yield from _nodes_in(item)
    elif isinstance(node, dict):
        yield node
        for keyword, value in node.items():
            if keyword in _NAMES:
                yield from _nodes_in(list(value.values()))
            elif keyword not in _VALUES:
                yield from _nodes_in(value)
