"""Nodes of an OpenAPI document with their JSON pointers. Child lookups follow references."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Json: TypeAlias = Any

GONE: Any = object()
LONGEST_QUOTE = 120


@dataclass(slots=True)  # not frozen, for speed: a comparison creates 100,000 of them
class Place:
    """A node and its JSON pointer. For a missing node, the value is None."""

    root: Mapping[str, Json] = field(repr=False)
    pointer: str
    value: Json = field(repr=False)

    def __truediv__(self, step: str | int) -> Place:
        """Return a child node. If it is a Reference Object, return its target."""
        below = Place(self.root, f"{self.pointer}/{_escaped(str(step))}", self._look_up(step))
        while isinstance(below.value, dict) and isinstance(below.value.get("$ref"), str):
            below = self._resolve(below.value["$ref"])
        return below

    def children(self) -> dict[str, Place]:
        """Return an object's members by name, or an empty dict if the node is not an object."""
        return {name: self / name for name in self.value} if isinstance(self.value, dict) else {}

    def items(self) -> list[Place]:
        """Return an array's items, or an empty list if the node is not an array."""
        return [self / index for index in range(len(self.value))] if isinstance(self.value, list) else []

    def _look_up(self, step: str | int) -> Json:
        if isinstance(self.value, list):
            return self.value[int(step)]
        return self.value.get(step) if isinstance(self.value, dict) else None

    def _resolve(self, pointer: str) -> Place:
        value: Json = self.root
        for step in steps_of(pointer):
            value = value[step]
        return Place(self.root, pointer, value)


def whole(document: Mapping[str, Json]) -> Place:
    """Return the root node of a document."""
    return Place(document, "#", document)


def steps_of(pointer: str) -> list[str]:
    """Split a JSON pointer into its unescaped steps."""
    steps = pointer.removeprefix("#").removeprefix("/").split("/")
    return [step.replace("~1", "/").replace("~0", "~") for step in steps]


def pointer_to(*steps: str) -> str:
    """Return the JSON pointer that consists of these steps."""
    return "".join(f"/{_escaped(step)}" for step in steps)


def changed(document: Json, pointer: str, value: Json) -> Json:
    """Return a copy of a document with another value at a pointer. The value GONE removes the node."""
    document = copy.deepcopy(document)
    *steps, last = steps_of(pointer)
    node = document
    for step in steps:
        node = node[int(step)] if isinstance(node, list) else node[step]
    if isinstance(node, list):
        node[int(last) : int(last) + 1] = [] if value is GONE else [value]
    elif value is GONE:
        del node[last]
    else:
        node[last] = value
    return document


@cache
def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def quote(value: Json) -> str:
    """Render a value as it appears in the document, shortened if necessary."""
    text = "not there" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"
