"""Generates a JSON Schema for monitoring files from the OpenAPI document, for use by editors and linters."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from monitoring.as_code.kinds import CHANNELS, KINDS, WINDOWS, Kind
from monitoring.contract.document import Json, published_document

_REFERENCE = "#/components/schemas/"
_OF_FILES = {
    "id": {
        "type": "string",
        "format": "uuid",
        "description": "The id of an existing resource. It gets the key, if no resource has the key yet.",
    },
    "note": {"type": "string", "description": "A note for people, which is not sent to the service."},
}
_MONITOR_KEYS = {
    "type": "array",
    "items": {"type": "string"},
    "description": "The keys of monitors in this file.",
}
# Keywords that restrict the text of a field. A file may contain a variable instead of such a text.
_NARROWING = {"pattern", "format", "not"}
_VARIABLE = {"type": "string", "pattern": r"\$\{[A-Za-z_][A-Za-z0-9_]*\}"}


def make_schema() -> dict[str, Any]:
    """Return the schema for files (JSON Schema 2020-12)."""
    definitions = _Definitions()
    sections = {
        kind.section: {
            "type": "object",
            "propertyNames": {"pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"},
            "additionalProperties": _row_of(kind, definitions),
        }
        for kind in KINDS
    }
    definitions.schemas["NotificationRoutingUpdate"]["properties"]["monitor_keys"] = _MONITOR_KEYS
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Monitors as code",
        "type": "object",
        "additionalProperties": False,
        "properties": sections,
        "$defs": definitions.schemas,
    }


class _Definitions:
    """The schemas of the OpenAPI document that files need, adapted to files."""

    def __init__(self) -> None:
        self.schemas: dict[str, Any] = {}
        self._of_document = published_document().root["components"]["schemas"]

    def adapt(self, name: str) -> Any:  # noqa: ANN401 - JSON Schema
        """Return the OpenAPI document's schema `name`, adapted to files.

        Every schema that it refers to is added to `schemas`.
        """
        return self._adapt(deepcopy(self._of_document[name]))

    def _adapt(self, node: Json) -> Any:  # noqa: ANN401 - JSON Schema
        if isinstance(node, list):
            return [self._adapt(each) for each in node]
        if not isinstance(node, dict):
            return node
        if str(node.get("$ref", "")).startswith(_REFERENCE):
            name = node["$ref"].removeprefix(_REFERENCE)
            if name not in self.schemas:
                self.schemas[name] = {}
                self.schemas[name] = self.adapt(name)
            return {"$ref": f"#/$defs/{name}"}
        own = {name: self._adapt(value) for name, value in node.items() if not name.startswith(("x-", "not"))}
        if "not" in node:  # leave unchanged: an adapted `not` would refuse variables
            excluded = node["not"].get("$ref", "").removeprefix(_REFERENCE)
            own["not"] = self._of_document[excluded] if excluded else node["not"]
        own.pop("discriminator", None)
        is_text = own.get("type") in ("string", ["string", "null"])
        return {"anyOf": [own, _VARIABLE]} if is_text and _NARROWING & own.keys() else own


def _row_of(kind: Kind, definitions: _Definitions) -> dict[str, Any]:
    row: dict[str, Any] = definitions.adapt(kind.schema)
    own = _OF_FILES | ({"monitor_keys": _MONITOR_KEYS} if kind is WINDOWS else {})
    if kind is not CHANNELS:
        row["properties"] |= own
    for choice in row.get("oneOf", ()):
        definitions.schemas[choice["$ref"].removeprefix("#/$defs/")]["properties"] |= own
    return row
