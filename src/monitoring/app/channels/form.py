"""Forms of channels: typed text becomes what the API takes, and the document judges it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import orjson

from monitoring.app.channels.labels import HINTS, LABELS
from monitoring.app.channels.routing_form import read_routing, write_routing
from monitoring.app.form_fields import document_rules
from monitoring.app.formatting import capitalize
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.configurations import member_of
from monitoring.contract.document import Json, Node, published_document
from monitoring.contract.problems import Problem
from monitoring.contract.validation import Check
from monitoring.notifications.configuration import configuration_of, secret_fields
from monitoring.notifications.models import NotificationChannel

_UNION, _PATCHES = "NotificationChannelCreate", "NotificationChannelUpdate"
_WITHOUT_A_FIELD = ("type", "events", "routing", "enabled")

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
    is_secret: bool
    options: Sequence[tuple[str, str]]
    rows: int
    default: str


@cache
def fields_of(channel_type: str) -> tuple[Field, ...]:
    """Return the fields of a type, in the order of the document."""
    schema, secrets = _schema_of(channel_type), secret_fields(channel_type)
    return tuple(
        _describe(name, part, is_required=name in schema["required"], is_secret=name in secrets)
        for name, part in schema["properties"].items()
        if name not in _WITHOUT_A_FIELD
    )


@dataclass(frozen=True, slots=True)
class Ticked:
    """The values of the boxes that were ticked: events, and ids of monitors."""

    events: Sequence[str]
    monitor_ids: Sequence[str] = ()


def read_form(channel_type: str, form: Mapping[str, str], ticked: Ticked) -> dict[str, Json]:
    """Read a NotificationChannelCreate, without fields that were left empty.

    Raises Problem for the first field that breaks the document's rules; `others` has the rest.
    """
    given: dict[str, Json] = {"type": channel_type}
    for field in fields_of(channel_type):
        if text := form.get(field.name, "").strip():
            given[field.name] = _read(field.name, text)
    given |= _read_ticked(form, ticked)
    judge(_UNION, channel_type)(given)
    return given


def read_patch(channel_type: str, form: Mapping[str, str], ticked: Ticked) -> dict[str, Json]:
    """Read a NotificationChannelUpdate. Secrets that were left empty stay, other fields get their default.

    Raises Problem for the first field that breaks the document's rules; `others` has the rest.
    """
    patch: dict[str, Json] = {"type": channel_type}
    for field in fields_of(channel_type):
        text = form.get(field.name, "").strip()
        if text or field.is_required:
            patch[field.name] = _read(field.name, text)
        else:
            patch[field.name] = None
        if not text and field.is_secret:
            del patch[field.name]
    patch |= _read_ticked(form, ticked) | {"enabled": form.get("enabled") == "on"}
    judge(_PATCHES, channel_type)(patch)
    return patch


def write_form(channel: NotificationChannel) -> dict[str, str]:
    """Write a channel as the texts of the form's fields. Those of secrets are empty."""
    configuration = configuration_of(channel)
    texts = {
        field.name: "" if field.is_secret else _write(configuration[field.name])
        for field in fields_of(channel.type)
    }
    return texts | write_routing(configuration["routing"]) | {"enabled": "on" if channel.enabled else ""}


def place_problem(problem: Problem, catalogue: Catalogue, channel_type: str) -> dict[str, str]:
    """Return the sentences of a problem and its `others`, by field.

    What is about no single field stands under `WHOLE_FORM`. A field has one sentence, the first.
    """
    placed: dict[str, str] = {}
    for each in (problem, *problem.others):
        field, sentence = _place(each, catalogue, channel_type)
        placed.setdefault(field, sentence)
    return placed


def _place(problem: Problem, catalogue: Catalogue, channel_type: str) -> tuple[str, str]:
    sentence = catalogue.respond(problem.name, problem.headers, problem.values).body["error"]
    path, _, words = sentence.partition(": ")
    name, _, _ = path.partition(".")
    if path.startswith("routing."):
        field = path.replace("routing.quiet_hours.", "routing.quiet_").split(".")[1]
        return f"routing_{field}", capitalize(words)
    if name == "events" or name in {field.name for field in fields_of(channel_type)}:
        return name, capitalize(words)
    return WHOLE_FORM, sentence


@cache
def judge(union: str, channel_type: str) -> Check:
    """Return the document's check of a form of one type, for everything that is wrong with it."""
    schema_name = member_of(union, channel_type)
    return document_rules().form_check({"$ref": f"#/components/schemas/{schema_name}"}, "form")


def _describe(name: str, part: Node, *, is_required: bool, is_secret: bool) -> Field:
    schema = published_document().follow(part)
    options = [(option, option) for option in schema.get("enum", ())]
    rows = {"headers": 3, "body": 6}.get(name, 1)
    default = str(schema.get("default", "")) if options else ""
    return Field(name, LABELS[name], HINTS.get(name, ""), is_required, is_secret, options, rows, default)


def _read_ticked(form: Mapping[str, str], ticked: Ticked) -> dict[str, Json]:
    return {"events": list(ticked.events), "routing": read_routing(form, ticked.monitor_ids)}


def _read(name: str, text: str) -> Json:
    if name == "headers":
        pairs = [line.partition(":") for line in text.splitlines() if line.strip()]
        return [{"name": header.strip(), "value": value.strip()} for header, _, value in pairs]
    if name == "body":
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            return text  # which is no object, as the document says
    return text


def _write(value: Json) -> str:
    return (
        orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() if isinstance(value, dict) else value or ""
    )


def _schema_of(channel_type: str) -> Node:
    schema: Node = published_document().root["components"]["schemas"][member_of(_UNION, channel_type)]
    return schema
