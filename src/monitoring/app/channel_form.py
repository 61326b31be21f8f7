"""Forms for new channels: typed text becomes a NotificationChannelCreate, which the document judges. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import orjson

from monitoring.app.channel_words import HINTS, LABELS
from monitoring.app.document_rules import document_rules
from monitoring.contract.configurations import member_of
from monitoring.contract.document import published_document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from monitoring.contract.catalogue import Catalogue
    from monitoring.contract.document import Json, Node
    from monitoring.contract.problems import Problem
    from monitoring.contract.validation import Check

_UNION = "NotificationChannelCreate"
_WITHOUT_A_FIELD = ("type", "events", "enabled")

# The key of an error that concerns no single field.
WHOLE_FORM = ""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the form of one type.

    `options` are those of a choice, each with its words. `rows` is above 1 where many lines can be typed.
    """

    name: str
    label: str
    hint: str
    is_required: bool
    options: Sequence[tuple[str, str]]
    rows: int
    default: str


@cache
def fields_of(channel_type: str) -> tuple[Field, ...]:
    """Return the fields of a type, in the order of the document."""
    schema = _schema_of(channel_type)
    return tuple(
        _describe(name, part, is_required=name in schema["required"])
        for name, part in schema["properties"].items()
        if name not in _WITHOUT_A_FIELD
    )


def read_form(channel_type: str, form: Mapping[str, str], events: Sequence[str]) -> dict[str, Json]:
    """Read a NotificationChannelCreate, without fields that were left empty.

    Raises Problem for the first field that breaks the document's rules.
    """
    given: dict[str, Json] = {"type": channel_type}
    for field in fields_of(channel_type):
        if text := form.get(field.name, "").strip():
            given[field.name] = _read(field.name, text)
    given["events"] = list(events)
    judge()(given)
    return given


def place_problem(problem: Problem, catalogue: Catalogue, channel_type: str) -> dict[str, str]:
    """Return the problem's sentence under the field that it names, or under `WHOLE_FORM`."""
    sentence = catalogue.reply(problem.name, problem.headers, problem.values).body["error"]
    path, _, words = sentence.partition(": ")
    name, _, _ = path.partition(".")
    if name == "events" or name in {field.name for field in fields_of(channel_type)}:
        return {name: words[:1].upper() + words[1:]}
    return {WHOLE_FORM: sentence}


@cache
def judge() -> Check:
    """Return the document's check of a form. Compiled once, at the start, because it takes long."""
    return document_rules().request_check({"$ref": f"#/components/schemas/{_UNION}"}, "form")


def _describe(name: str, part: Node, *, is_required: bool) -> Field:
    schema = published_document().follow(part)
    options = [(option, option) for option in schema.get("enum", ())]
    rows = {"headers": 3, "body": 6}.get(name, 1)
    default = str(schema.get("default", "")) if options else ""
    return Field(name, LABELS[name], HINTS.get(name, ""), is_required, options, rows, default)


def _read(name: str, text: str) -> Json:
    if name == "headers":
        pairs = [line.partition(":") for line in text.splitlines() if line.strip()]
        return [{"name": header.strip(), "value": value.strip()} for header, _, value in pairs]
    if name == "body":
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            raise document_rules().sentences.invalid_field(name, "type", types="a JSON object") from None
    return text


def _schema_of(channel_type: str) -> Node:
    schema: Node = published_document().root["components"]["schemas"][member_of(_UNION, channel_type)]
    return schema
