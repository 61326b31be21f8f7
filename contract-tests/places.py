"""Nodes of an OpenAPI document that know where they stand: references are followed on the way down."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Json: TypeAlias = Any

LONGEST_QUOTE = 120


@dataclass(frozen=True, slots=True)
class Place:
    """A node and its JSON pointer; the value of what is not there is None."""

    root: Mapping[str, Json] = field(repr=False)
    pointer: str
    value: Json = field(repr=False)

    def __truediv__(self, step: str | int) -> Place:
        """Go one step down, and on to where a Reference Object leads."""
        written = str(step).replace("~", "~0").replace("/", "~1")
        below = Place(self.root, f"{self.pointer}/{written}", self._look_up(step))
        while isinstance(below.value, dict) and isinstance(below.value.get("$ref"), str):
            below = self._resolve(below.value["$ref"])
        return below

    def children(self) -> dict[str, Place]:
        """Every entry of an object by its name; nothing for anything else."""
        return {name: self / name for name in self.value} if isinstance(self.value, dict) else {}

    def items(self) -> list[Place]:
        """Every entry of an array; nothing for anything else."""
        return [self / index for index in range(len(self.value))] if isinstance(self.value, list) else []

    def _look_up(self, step: str | int) -> Json:
        if isinstance(self.value, list):
            return self.value[int(step)]
        return self.value.get(step) if isinstance(self.value, dict) else None

    def _resolve(self, pointer: str) -> Place:
        value: Json = self.root
        for step in pointer.removeprefix("#/").split("/"):
            value = value[step.replace("~1", "/").replace("~0", "~")]
        return Place(self.root, pointer, value)


def whole(document: Mapping[str, Json]) -> Place:
    """Stand at the root of a document."""
    return Place(document, "#", document)


def quote(value: Json) -> str:
    """Write a value as a reader of the document knows it."""
    text = "not there" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"
