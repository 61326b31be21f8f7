"""What a tool takes, as a small JSON schema: derived from the document, and looser than it.

The service validates, and its sentences say what is wrong. So a schema only has to lead a model to a good
first try: names, types, choices, bounds of numbers, and the first sentence of each description.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from monitoring.contract.document import Document, Json, Node, Operation

KEPT = ("enum", "const", "default", "minimum", "maximum", "minItems", "maxItems")

# How deep objects are described. The service's sentences explain a deeper one.
MOST_LEVELS = 3

NULL = {"type": "null"}

_AFTER_A_SENTENCE = re.compile(r"(?<=\.)\s")


def describe_input(operation: Operation, document: Document) -> dict[str, Json]:
    """Return the schema of an operation's arguments: parameters of path and query, and fields of the body."""
    properties: dict[str, Json] = {}
    required: list[str] = []
    for parameter in argument_parameters(operation):
        described = {**_unfold(parameter["schema"], document), "description": parameter["description"]}
        properties[parameter["name"]] = _shrink(described, document)
        if parameter.get("required"):
            required.append(parameter["name"])
    body = _shrink(body_schema(operation, document) or {}, document)
    properties |= body.get("properties", {})
    required += body.get("required", [])
    return {"type": "object", "properties": properties, "required": required}


def without_descriptions(schema: dict[str, Json]) -> dict[str, Json]:
    """Return a schema whose fields are described by another tool."""
    bare = {name: value for name, value in schema.items() if name != "description"}
    if "properties" in bare:
        bare["properties"] = {name: without_descriptions(each) for name, each in bare["properties"].items()}
    if "items" in bare:
        bare["items"] = without_descriptions(bare["items"])
    return bare


def argument_parameters(operation: Operation) -> list[Node]:
    """Return the parameters that a tool takes: those of the path and the query."""
    return [parameter for parameter in operation.parameters if parameter["in"] in ("path", "query")]


def body_schema(operation: Operation, document: Document) -> Node | None:
    """Return the schema of an operation's body, or None if it takes none."""
    if "requestBody" not in operation.definition:
        return None
    (media_type,) = document.follow(operation.definition["requestBody"])["content"].values()
    schema: Node = media_type["schema"]
    return schema


def _shrink(schema: Node, document: Document, level: int = 0) -> dict[str, Json]:
    """Return what a model needs to know of a schema."""
    whole = _unfold(schema, document)
    if "oneOf" in whole:
        whole |= _unite([_unfold(each, document) for each in whole["oneOf"]], document)
    small = {name: whole[name] for name in ("type", *KEPT) if whole.get(name) is not None}
    if "description" in whole:
        text = " ".join(whole["description"].split())
        small["description"] = _AFTER_A_SENTENCE.split(text, maxsplit=1)[0]
    if "items" in whole:
        small["items"] = _shrink(whole["items"], document, level + 1)
        if "properties" not in small["items"]:
            small["items"].pop("description", None)  # the list's own says as much
    if "properties" in whole and level < MOST_LEVELS:
        fields = whole["properties"].items()
        small["properties"] = {name: _shrink(each, document, level + 1) for name, each in fields}
        if "required" in whole:
            small["required"] = list(whole["required"])
    return small


def _unfold(schema: Node, document: Document) -> dict[str, Json]:
    """Return a schema with its references followed, and its `allOf` and "this or null" merged into it."""
    whole = dict(document.follow(schema))
    alternatives = whole.pop("anyOf", ())
    for each in (*whole.pop("allOf", ()), *alternatives):
        if each != NULL:
            whole = {**_unfold(each, document), **whole}
    if NULL in alternatives and isinstance(whole.get("type"), str):
        whole["type"] = [whole["type"], "null"]
        if "enum" in whole:
            whole["enum"] = [*whole["enum"], None]
    return whole


def _unite(kinds: Sequence[Node], document: Document) -> dict[str, Json]:
    """Return one object with the fields of every kind. A field that few have says which these are."""
    names = [kind["properties"]["type"]["const"] for kind in kinds]
    fields = {field: None for kind in kinds for field in kind["properties"]}  # in order, each once
    properties: dict[str, Json] = {}
    for field in fields:
        owners = [kind for kind in kinds if field in kind["properties"]]
        united = _unfold(owners[0]["properties"][field], document)
        if len(owners) < len(kinds) / 2:
            of = ", ".join(name for name, kind in zip(names, kinds, strict=True) if kind in owners)
            united["description"] = f"For {of}: {united.get('description', '')}"
        properties[field] = united
    properties["type"] = {"type": "string", "enum": names}
    return {"type": "object", "properties": properties, "required": ["type"]}
