"""Small JSON schemas for tools' arguments, derived from the API document but less strict.

The service validates arguments and explains errors. Therefore, a schema only contains what helps a model to
succeed on its first call: names, types, choices, number bounds, and the first sentence of each description.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from monitoring.contract.document import Document, Json, Node, Operation

KEPT = ("enum", "const", "default", "minimum", "maximum", "minItems", "maxItems")

# The depth to which nested objects are described. The service's error messages explain deeper objects.
MOST_LEVELS = 3

NULL = {"type": "null"}

_AFTER_A_SENTENCE = re.compile(r"(?<=\.)\s")


def describe_input(operation: Operation, document: Document) -> dict[str, Json]:
    """Return the schema of an operation's arguments: path and query parameters, and body fields."""
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
    """Return a schema without descriptions, for fields that another tool describes."""
    bare = {name: value for name, value in schema.items() if name != "description"}
    if "properties" in bare:
        bare["properties"] = {name: without_descriptions(each) for name, each in bare["properties"].items()}
    if "items" in bare:
        bare["items"] = without_descriptions(bare["items"])
    return bare


def argument_parameters(operation: Operation) -> list[Node]:
    """Return the parameters that a tool takes, which are an operation's path and query parameters."""
    return [parameter for parameter in operation.parameters if parameter["in"] in ("path", "query")]


def body_schema(operation: Operation, document: Document) -> Node | None:
    """Return the schema of an operation's body. None if the operation takes no body."""
    if "requestBody" not in operation.definition:
        return None
    (media_type,) = document.follow(operation.definition["requestBody"])["content"].values()
    schema: Node = media_type["schema"]
    return schema


def _shrink(schema: Node, document: Document, level: int = 0) -> dict[str, Json]:
    """Return a schema reduced to what a model needs."""
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
            small["items"].pop("description", None)  # the list's own description suffices
    if "properties" in whole and level < MOST_LEVELS:
        fields = whole["properties"].items()
        small["properties"] = {name: _shrink(each, document, level + 1) for name, each in fields}
        if "required" in whole:
            small["required"] = list(whole["required"])
    return small


def _unfold(schema: Node, document: Document) -> dict[str, Json]:
    """Return a schema with its references resolved, and its `allOf` and nullable `anyOf` merged into it."""
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
    """Merge alternative object schemas into one, which has the fields of all of them.

    If fewer than half of the alternatives have a field, the field's description lists these alternatives.
    """
    names = [kind["properties"]["type"]["const"] for kind in kinds]
    fields = {field: None for kind in kinds for field in kind["properties"]}  # in order, without duplicates
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
