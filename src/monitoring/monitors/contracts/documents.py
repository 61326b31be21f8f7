"""Extracts what a client's OpenAPI document (3.0 or 3.1) specifies for one operation. Has no side effects.

The result is called rules: a small, self-contained JSON value, which `judging.py` compiles. A hostile
document can take a long time to read, so `isolation.py` runs this module in a separate process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from monitoring.contract.document import METHODS, Json, Node

MAX_RULES_BYTES = 262_144
MAX_DEPTH = 100
MAX_NODES = 200_000  # the maximum number of nodes visited in a document

# Keywords that change the base URI of references, or name a target that `$ref` could use instead of a JSON
# Pointer. They are left out of the rules.
_OF_PLACES = frozenset({"$id", "$schema", "$anchor", "$dynamicAnchor", "$vocabulary", "id"})
_LEADING_ELSEWHERE = frozenset({"$dynamicRef", "$recursiveRef"})
_VALUES = frozenset({"const", "enum"})
_MAPS_OF_SCHEMAS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
# Keywords that validation ignores. They are left out, because they would only enlarge the rules.
_SILENT = frozenset(
    {"description", "title", "example", "examples", "default", "externalDocs", "xml", "$comment"}
)


class UnusableDocumentError(Exception):
    """No rules for an operation can be read from a document.

    `reason` is the name of the problem that the client receives, without its prefix `contract_`.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def find_rules(document: Json, operation_id: str) -> dict[str, Json]:
    """Return the rules for the operation with this id. Raises UnusableDocumentError."""
    _measure(document)
    version = document.get("openapi") if isinstance(document, dict) else None
    if not isinstance(version, str) or not version.startswith(("3.0", "3.1")):
        raise UnusableDocumentError("unreadable")
    try:
        rules = _Reader(document, is_3_0=version.startswith("3.0")).read(operation_id)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, RecursionError):
        raise UnusableDocumentError("unreadable") from None
    if len(orjson.dumps(rules)) > MAX_RULES_BYTES:
        raise UnusableDocumentError("too_large")
    return rules


def _measure(document: Json) -> None:
    """Reject a document that is too deep or too large to traverse.

    A part that occurs in several places, for example through YAML aliases, is counted each time it occurs.
    """
    left = MAX_NODES
    waiting = [(document, 0)]
    while waiting:
        node, depth = waiting.pop()
        left -= 1
        if left < 0 or depth > MAX_DEPTH:
            raise UnusableDocumentError("too_large")
        if isinstance(node, dict):
            waiting += [(child, depth + 1) for child in node.values()]
        elif isinstance(node, list):
            waiting += [(child, depth + 1) for child in node]


class _Reader:
    """Reads one operation. Referenced schemas become `$defs` of the rules."""

    def __init__(self, document: Node, *, is_3_0: bool) -> None:
        self._document = document
        self._is_3_0 = is_3_0
        self._names: dict[str, str] = {}
        self._waiting: list[str] = []

    def read(self, operation_id: str) -> dict[str, Json]:
        method, path, operation = self._find(operation_id)
        responses = {
            str(status).upper(): self._read_response(self._follow(response))
            for status, response in operation["responses"].items()
            if not str(status).startswith("x-")
        }
        return {
            "operation_id": operation_id,
            "method": method.upper(),
            "path": path,
            "responses": responses,
            "$defs": self._read_definitions(),
        }

    def _find(self, operation_id: str) -> tuple[str, str, Node]:
        for path, item in self._document["paths"].items():
            for method, operation in self._follow(item).items():
                if method in METHODS and operation.get("operationId") == operation_id:
                    return method, path, operation
        raise UnusableDocumentError("operation_unknown")

    def _read_response(self, response: Node) -> dict[str, Json]:
        headers = {
            name.lower(): self._read_header(self._follow(header))
            for name, header in response.get("headers", {}).items()
            if name.lower() != "content-type"  # OpenAPI ignores this header here
        }
        content = {
            media_type.partition(";")[0].strip().lower(): self._read_schema(media.get("schema", True))
            for media_type, media in response.get("content", {}).items()
        }
        return {"headers": headers, "content": content}

    def _read_header(self, header: Node) -> dict[str, Json]:
        is_required = header.get("required", False) is True
        return {"required": is_required, "schema": self._read_schema(header.get("schema", True))}

    def _read_definitions(self) -> dict[str, Json]:
        definitions: dict[str, Json] = {}
        while self._waiting:
            pointer = self._waiting.pop()
            definitions[self._names[pointer]] = self._read_schema(self._resolve(pointer))
        return definitions

    def _read_schema(self, schema: Json) -> Json:
        """Convert a schema to JSON Schema 2020-12, with references that point into the rules' `$defs`."""
        if isinstance(schema, bool):
            return schema
        if "$ref" in schema and self._is_3_0:
            return {"$ref": self._refer(schema["$ref"])}  # OpenAPI 3.0 ignores other keywords here
        read = dict(self._read_keywords(schema))
        return _as_2020_12(read) if self._is_3_0 else read

    def _read_keywords(self, schema: Node) -> Iterator[tuple[str, Json]]:
        hidden = self._find_hidden(schema)
        for keyword, value in schema.items():
            if keyword in _LEADING_ELSEWHERE:
                raise UnusableDocumentError("reference_outside")
            if keyword in _OF_PLACES or keyword in _SILENT or keyword.startswith("x-"):
                continue
            if keyword == "$ref":
                yield keyword, self._refer(value)
            elif keyword in _VALUES:
                yield keyword, value
            elif keyword in _MAPS_OF_SCHEMAS:
                yield keyword, {name: self._read_schema(each) for name, each in value.items()}
            elif keyword == "required" and isinstance(value, list):
                yield keyword, [name for name in value if name not in hidden]
            elif isinstance(value, dict):
                yield keyword, self._read_schema(value)
            elif isinstance(value, list):
                yield keyword, [self._read_schema(each) if isinstance(each, dict) else each for each in value]
            else:
                yield keyword, value

    def _find_hidden(self, schema: Node) -> set[str]:
        """Return the names of write-only properties, which responses do not contain."""
        properties = schema.get("properties", {})
        return {
            name
            for name, each in properties.items()
            if isinstance(each, dict) and self._follow(each).get("writeOnly") is True
        }

    def _refer(self, reference: str) -> str:
        if reference not in self._names:
            self._resolve(reference)
            self._names[reference] = f"d{len(self._names)}"
            self._waiting.append(reference)
        return f"#/$defs/{self._names[reference]}"

    def _follow(self, node: Any) -> Any:  # noqa: ANN401 - a part of the document
        """Return the target of a Reference Object. Any other node is returned unchanged."""
        for _ in range(MAX_DEPTH):
            if not isinstance(node, Mapping) or not isinstance(node.get("$ref"), str):
                return node
            node = self._resolve(node["$ref"])
        raise UnusableDocumentError("unreadable")

    def _resolve(self, reference: str) -> Any:  # noqa: ANN401 - a part of the document
        """Return the node that a JSON Pointer (RFC 6901) identifies."""
        if not reference.startswith("#/"):
            raise UnusableDocumentError("reference_outside")
        node: Any = self._document
        for step in reference[2:].split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            node = node[int(name)] if isinstance(node, list) else node[name]
        return node


def _as_2020_12(schema: dict[str, Json]) -> dict[str, Json]:
    """Rewrite `nullable` and exclusive bounds of OpenAPI 3.0 as JSON Schema 2020-12 expresses them."""
    if schema.pop("nullable", False) is True and isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(is_exclusive := schema.get(exclusive), bool):
            del schema[exclusive]
            if is_exclusive and bound in schema:
                schema[exclusive] = schema.pop(bound)
    return schema
