"""Converts channel forms to API requests and back. The API document's schemas validate the requests.

Has no side effects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import orjson

from monitoring.app.channels.labels import HINTS, LABELS
from monitoring.app.channels.routing_form import read_routing, write_routing
from monitoring.app.form_fields import WHOLE_FORM, check_of, sentences_of
from monitoring.app.formatting import capitalize
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.configurations import member_of
from monitoring.contract.document import Json, Node, published_document
from monitoring.contract.problems import Problem
from monitoring.contract.validation import Check
from monitoring.notifications.configuration import (
    complete_routing,
    configuration_of,
    default_configuration,
    secret_fields,
)
from monitoring.notifications.models import NotificationChannel

_UNION, _PATCHES = "NotificationChannelCreate", "NotificationChannelUpdate"
_WITHOUT_A_FIELD = ("type", "events", "routing", "enabled")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a channel type's form.

    `options` are the values of an enumerated field, each with its label. `rows` is more than 1 for multi-line
    text.
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
    """Return the fields of a channel type, in the order of the API document."""
    schema, secrets = _schema_of(channel_type), secret_fields(channel_type)
    return tuple(
        _describe(name, part, is_required=name in schema["required"], is_secret=name in secrets)
        for name, part in schema["properties"].items()
        if name not in _WITHOUT_A_FIELD
    )


@dataclass(frozen=True, slots=True)
class ChannelForm:
    """A form's submitted values: the texts of its fields, the ticked events, and the ticked monitors' ids."""

    type: str
    texts: Mapping[str, str]
    events: Sequence[str]
    monitor_ids: Sequence[str] = ()


def write_new_form(channel_type: str) -> ChannelForm:
    """Return a new channel's form, with the defaults of its type."""
    texts = {each.name: each.default for each in fields_of(channel_type)}
    texts |= write_routing(complete_routing({})["routing"])
    return ChannelForm(channel_type, texts, default_configuration(channel_type)["events"])


def read_form(typed: ChannelForm) -> dict[str, Json]:
    """Convert a form to a NotificationChannelCreate. Empty fields are left out.

    Raises Problem for the first invalid field, with the problems of the other fields in `others`.
    """
    given: dict[str, Json] = {"type": typed.type}
    for field in fields_of(typed.type):
        if text := typed.texts.get(field.name, "").strip():
            given[field.name] = _read(field.name, text)
    given |= _read_choices(typed)
    _check_of(_UNION, typed.type)(given)
    return given


def read_patch(typed: ChannelForm) -> dict[str, Json]:
    """Convert a form to a NotificationChannelUpdate.

    An empty secret field keeps the saved secret. Any other empty optional field is reset. Raises Problem for
    the first invalid field, with the problems of the other fields in `others`.
    """
    patch: dict[str, Json] = {"type": typed.type}
    for field in fields_of(typed.type):
        text = typed.texts.get(field.name, "").strip()
        if text or field.is_required:
            patch[field.name] = _read(field.name, text)
        else:
            patch[field.name] = None
        if not text and field.is_secret:
            del patch[field.name]
    patch |= _read_choices(typed) | {"enabled": typed.texts.get("enabled") == "on"}
    _check_of(_PATCHES, typed.type)(patch)
    return patch


def write_form(channel: NotificationChannel) -> ChannelForm:
    """Return a saved channel's form, with its secret fields left empty."""
    configuration = configuration_of(channel)
    texts = {
        field.name: "" if field.is_secret else _write(configuration[field.name])
        for field in fields_of(channel.type)
    }
    routing = configuration["routing"]
    texts |= write_routing(routing) | {"enabled": "on" if channel.enabled else ""}
    return ChannelForm(channel.type, texts, channel.events, routing["monitor_ids"])


def place_problem(problem: Problem, catalogue: Catalogue, channel_type: str) -> dict[str, str]:
    """Return the messages for a problem and its `others`, by field. Each field gets its first message only.

    A message that concerns no single field has the key `WHOLE_FORM`.
    """

    def place(_problem: Problem, sentence: str) -> tuple[str, str]:
        path, _, words = sentence.partition(": ")
        name, _, _ = path.partition(".")
        if path.startswith("routing."):
            field = path.replace("routing.quiet_hours.", "routing.quiet_").split(".")[1]
            return f"routing_{field}", capitalize(words)
        if name == "events" or name in {field.name for field in fields_of(channel_type)}:
            return name, capitalize(words)
        return WHOLE_FORM, sentence

    return sentences_of(problem, catalogue, place)


@cache
def _check_of(union: str, channel_type: str) -> Check:
    """Return the validator for a channel type's member of the union schema `union`."""
    return check_of(member_of(union, channel_type))


def _describe(name: str, part: Node, *, is_required: bool, is_secret: bool) -> Field:
    schema = published_document().follow(part)
    options = [(option, option) for option in schema.get("enum", ())]
    rows = {"headers": 3, "body": 6}.get(name, 1)
    default = str(schema.get("default", "")) if options else ""
    return Field(name, LABELS[name], HINTS.get(name, ""), is_required, is_secret, options, rows, default)


def _read_choices(typed: ChannelForm) -> dict[str, Json]:
    return {"events": list(typed.events), "routing": read_routing(typed.texts, typed.monitor_ids)}


def _read(name: str, text: str) -> Json:
    if name == "headers":
        pairs = [line.partition(":") for line in text.splitlines() if line.strip()]
        return [{"name": header.strip(), "value": value.strip()} for header, _, value in pairs]
    if name == "body":
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            return text  # not an object, so the schema rejects it
    return text


def _write(value: Json) -> str:
    return (
        orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() if isinstance(value, dict) else value or ""
    )


def _schema_of(channel_type: str) -> Node:
    schema: Node = published_document().root["components"]["schemas"][member_of(_UNION, channel_type)]
    return schema
