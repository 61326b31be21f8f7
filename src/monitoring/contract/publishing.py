"""The document as it is published: without the `x-` keywords, which only this service reads."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = Any

# What these hold is a value, or has names of its own, even where it looks like keywords.
_VALUES = frozenset({"const", "default", "enum", "example", "value"})
_NAMES = frozenset({"properties", "patternProperties", "mapping"})


def without_notes(node: Json) -> Json:
    """Copy a document, or a part of it, without our notes to ourselves."""
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
    return published
