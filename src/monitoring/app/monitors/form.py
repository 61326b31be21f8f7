"""Converts monitor forms to the API's MonitorCreate and back. The API document's schema validates the form.

Has no side effects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import orjson

from monitoring.app.form_fields import (
    WHOLE_FORM,
    check_of,
    document_rules,
    name_entry,
    quote_labels,
    read_tags,
    refuse,
    sentences_of,
    split_entries,
)
from monitoring.app.formatting import capitalize
from monitoring.app.monitors.assertion_lines import UnreadableLineError, read_assertions, write_assertion
from monitoring.app.monitors.labels import CHOICES, HINTS, LABELS
from monitoring.app.monitors.type_forms import TYPE_FORMS
from monitoring.backends.encryption import MASK
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.configurations import field_names, read_defaults
from monitoring.contract.document import Json, Node, published_document
from monitoring.contract.problems import Problem
from monitoring.contract.schemas import types_of, without_null
from monitoring.contract.validation import Check
from monitoring.monitors.configuration import Configuration, complete_settings, default_configuration

Texts = dict[str, str]

CHECKED = "on"

_CHOSEN_INTERVAL = "interval_choice"

_SCHEMA = "MonitorCreate"

_LINE_END = re.compile(r"\r\n?|\n")
_INTEGER = re.compile(r"-?[0-9]{1,18}")
# A URL without a scheme, such as `example.com/health`.
_SITE = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\[\]]+)(?P<port>:[0-9]+)?(?:[/?#].*)?", re.DOTALL)

MANY_LINES = {
    *("request_headers", "request_body", "assertions", "certificate_authority", "client_certificate"),
    *("tcp.send", "dns.expected", "contract.document", "contract.parameters"),
}
# Fields with parsers of their own: a JSON document, and lists whose entries may contain spaces and commas.
_OWN_KINDS = {"assertions": "assertions", "dns.expected": "lines", "contract.document": "document"}
_TRIMMED = {"name", "url", "contract.document_url", "contract.operation_id"}

_CONTRACT = "contract"
_CONTRACT_SCHEMA = "ContractCreate"
# A form in which all of these fields are empty defines no contract, even if other contract fields have
# values.
_NAMES_A_CONTRACT = {"document_url", "document", "operation_id"}
# Fields whose lines end with CRLF, as protocols require (RFC 5234 §B.1).
_PROTOCOL_TEXTS = {"tcp.send"}


def read_form(form: Mapping[str, str], saved: Configuration | None = None) -> Configuration:
    """Parse a form into a MonitorCreate. Empty fields are left out. The form's `type` determines its fields.

    `saved` is an edited monitor's configuration. A field with unchanged text keeps its saved value, because
    browsers change some values: they end every line with CRLF, and drop line ends from one-line fields.
    Raises Problem for the first invalid field, with the problems of the other fields in `others`.
    """
    untouched = write_form(saved) if saved else {}
    saved_values = flatten(saved) if saved else {}
    read: dict[str, Json] = {}
    unreadable: list[Problem] = []
    for name, kind in kinds_of(form["type"]).items():
        text = form.get(name, "")
        if saved and _as_sent(name, text) == _as_sent(name, untouched[name]):
            read[name] = saved_values[name]
        else:
            try:
                read[name] = _READERS[kind](name, text)
            except Problem as problem:
                unreadable.append(problem)
    given = _nest({name: value for name, value in read.items() if value is not None})
    if not given.get(_CONTRACT, {}).keys() & _NAMES_A_CONTRACT:
        given.pop(_CONTRACT, None)
    try:
        judge()(_without_what_is_kept(given, saved) if saved else given)
    except Problem as problem:
        unreadable += (problem, *problem.others)
    refuse(unreadable)
    return given


def _without_what_is_kept(given: Configuration, saved: Configuration) -> Configuration:
    """Return the configuration to validate, without masked credentials, whose saved values are kept.

    If the form keeps the saved contract's document, an empty document takes its place in the result.
    """
    others = _without_masks(given)
    others["request_headers"] = _without_masks(given.get("request_headers", {}))
    if _CONTRACT in given:
        others[_CONTRACT] = _without_masks(given[_CONTRACT])
        if saved[_CONTRACT] and not saved[_CONTRACT].get("document_url"):
            others[_CONTRACT] = {"document": {}, **others[_CONTRACT]}
            if "document_url" in given[_CONTRACT]:
                del others[_CONTRACT]["document"]
    return others


def _without_masks(values: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in values.items() if value != MASK}


def complete_form(form: Mapping[str, str]) -> Mapping[str, str]:
    """Return the form with its type, URL and interval completed.

    The interval is the choice from the list, or the typed interval if the choice is "other". A URL without a
    scheme gets one if it begins with text that looks like a host. Raises Problem for an unknown type.
    """
    monitor_type = form.get("type", "http")  # forms of the previous release have no type
    if monitor_type not in TYPE_FORMS:
        raise Problem("malformed_request")
    url = _complete_url(form.get("url", ""), TYPE_FORMS[monitor_type].scheme)
    completed = {**form, "type": monitor_type, "url": url}
    chosen = form.get(_CHOSEN_INTERVAL)
    return {**completed, "interval_seconds": chosen} if chosen else completed


def _complete_url(text: str, scheme: str) -> str:
    site = _SITE.fullmatch(text.strip())
    if not site:
        return text
    host, port = site["host"], site["port"]
    looks_like_host = "." in host or host.startswith("[") or port or host.lower() == "localhost"
    return f"{scheme}://{text.strip()}" if looks_like_host else text


def write_form(configuration: Mapping[str, Json]) -> Texts:
    """Return a configuration as the texts of a form's fields. A field without a value is empty."""
    values = flatten(configuration)
    return {name: _WRITERS[kind](values.get(name)) for name, kind in kinds_of(values["type"]).items()}


def write_new_form(monitor_type: str) -> Texts:
    """Return the texts of a new form's fields, which are the defaults of the type."""
    settings = complete_settings(monitor_type, {})
    return write_form({**default_configuration(), "type": monitor_type, monitor_type: settings})


@cache
def write_hints(monitor_type: str) -> Texts:
    """Return each field's hint, with the bounds from the field's schema filled in."""
    hints = {name: HINTS[name] for name in kinds_of(monitor_type) if name in HINTS}
    bounded = {name: hint.format_map(_schemas()[name]) for name, hint in hints.items()}
    return {**bounded, "url": TYPE_FORMS[monitor_type].address_hint}


@cache
def labels_of(monitor_type: str) -> Texts:
    """Return each field's label, in form order."""
    labels = {name: LABELS[name] for name in TYPE_FORMS[monitor_type].fields}
    return labels | ({"url": TYPE_FORMS[monitor_type].address_label} if "url" in labels else {})


@cache
def choices_of(monitor_type: str) -> Mapping[str, list[tuple[str, str]]]:
    """Return the values of each enumerated field, with their labels."""
    enums = {name: _schemas()[name].get("enum", ()) for name in kinds_of(monitor_type)}
    values = {name: ["" if each is None else str(each) for each in enum] for name, enum in enums.items()}
    return {
        name: [(text, CHOICES.get(name, {}).get(text, text)) for text in texts]
        for name, texts in values.items()
        if texts
    }


def echo_form(form: Mapping[str, str]) -> Texts:
    """Return the submitted text of each field, valid or not."""
    return {name: form.get(name, "") for name in kinds_of(form["type"])}


def patch_from(given: Configuration, saved: Configuration) -> dict[str, Json]:
    """Return a merge patch that turns the saved configuration into the form's. The patch has every field."""
    names = kinds_of(saved["type"])
    patch = {**_nest(dict.fromkeys(names)), **given}
    for name in (saved["type"], "request_headers"):  # objects are merged, so each removed member needs a null
        if name in patch:
            patch[name] = {**dict.fromkeys(saved[name]), **given.get(name, {})}
    if _CONTRACT in patch:
        patch[_CONTRACT] = _patch_contract(given.get(_CONTRACT), saved[_CONTRACT])
    return patch


def _patch_contract(given: Configuration | None, saved: Configuration | None) -> dict[str, Json] | None:
    """Return the merge patch of a contract; None if the form defines no contract.

    The patch of an unchanged contract is empty, so that its document is not fetched again.
    """
    if given is None or saved is None:
        return None if given is None else dict(given)
    if given == {name: value for name, value in saved.items() if value is not None}:
        return {}
    return {**dict.fromkeys(saved), **given}


def place_problem(problem: Problem, catalogue: Catalogue, form: Mapping[str, str]) -> Texts:
    """Return the messages for a problem and its `others`, by field in form order.

    Each field gets its first message only. A message that concerns no single field has the key `WHOLE_FORM`.
    A message about one entry of a field names the entry.
    """
    kinds, labels = kinds_of(form["type"]), labels_of(form["type"])

    def place(_problem: Problem, sentence: str) -> tuple[str, str]:
        path, _, words = sentence.partition(": ")
        name = next((each for each in kinds if f"{path}.".startswith(f"{each}.")), None)
        if name is None:
            return WHOLE_FORM, sentence
        entry = path[len(name) + 1 :]
        words = quote_labels(words, {name.rpartition(".")[2]: label for name, label in labels.items()})
        if not entry:
            return name, capitalize(words)
        if name == "assertions":
            return name, f"Assertion {int(entry.partition('.')[0]) + 1}: {words}"
        if kinds[name] == "lines":
            return name, f"{_read_lines(name, form.get(name, ''))[int(entry)]}: {words}"
        if kinds[name] == "array":
            return name, name_entry(form.get(name, ""), int(entry), words)
        return name, f"{entry}: {words}"

    placed = sentences_of(problem, catalogue, place)
    return {name: placed[name] for name in (WHOLE_FORM, *labels) if name in placed}


def flatten(configuration: Mapping[str, Json]) -> dict[str, Json]:
    """Return a configuration, extended by the settings of its type and contract.

    Each of these settings has the name of its form field, such as `tcp.expect`.
    """
    monitor_type = configuration["type"]
    contract: Mapping[str, Json] = {
        **dict.fromkeys(field_names(_CONTRACT_SCHEMA)),
        **read_defaults(_CONTRACT_SCHEMA),
        **(configuration.get(_CONTRACT) or {}),
    }
    members = {monitor_type: configuration.get(monitor_type, {}), _CONTRACT: contract}
    named = {
        f"{member}.{name}": value for member, values in members.items() for name, value in values.items()
    }
    return {**configuration, **named}


def _nest(fields: Mapping[str, Json]) -> dict[str, Json]:
    """Return form fields as a configuration, with the settings of the type and contract as nested objects."""
    nested: dict[str, Json] = {}
    for name, value in fields.items():
        member, _, setting = name.partition(".")
        if setting:
            nested.setdefault(member, {})[setting] = value
        else:
            nested[name] = value
    return nested


def _read_text(name: str, text: str) -> str | None:
    if name in _TRIMMED:
        text = text.strip()
    return _LINE_END.sub("\r\n" if name in _PROTOCOL_TEXTS else "\n", text) or None


def _read_integer(_: str, text: str) -> int | str | None:
    """Parse an integer; None if empty. Any other text is returned unchanged, for the schema to reject."""
    text = text.strip()
    return int(text) if _INTEGER.fullmatch(text) else text or None


def _read_boolean(_: str, text: str) -> bool:
    return bool(text)


def _read_entries(name: str, text: str) -> list[str] | None:
    return (read_tags(text) if name == "tags" else split_entries(text)) or None


def _read_lines(_: str, text: str) -> list[str]:
    return list(filter(None, (line.strip() for line in _LINE_END.split(text))))


def _read_headers(name: str, text: str) -> dict[str, str] | None:
    """Parse lines of `Name: value`, without `splitlines()`, which would split values at Unicode line ends."""
    headers: dict[str, str] = {}
    for line in filter(None, (line.strip(" \t") for line in _LINE_END.split(text))):
        header, colon, value = line.partition(":")
        if not colon:
            raise document_rules().sentences.invalid_field(name.split("."), "pattern")
        headers[header] = value.strip(" \t")
    return headers or None


def _read_document(_: str, text: str) -> Json:
    """Parse JSON; None if empty. Invalid JSON is returned as text, for the schema to reject."""
    try:
        return orjson.loads(text) if text.strip() else None
    except orjson.JSONDecodeError:
        return text


def _read_assertions(name: str, text: str) -> list[dict[str, Json]] | None:
    try:
        return read_assertions(_LINE_END.split(text)) or None
    except UnreadableLineError as error:
        raise document_rules().sentences.invalid_field([name, error.number], "pattern") from None


# Parsers and formatters of fields, by the kinds that `kinds_of` returns.
_READERS: Mapping[str, Callable[[str, str], Json]] = {
    "string": _read_text,
    "integer": _read_integer,
    "boolean": _read_boolean,
    "array": _read_entries,
    "lines": _read_lines,
    "object": _read_headers,
    "assertions": _read_assertions,
    "document": _read_document,
}
_WRITERS: Mapping[str, Callable[[Json], str]] = {
    "string": lambda text: text or "",
    "integer": lambda number: "" if number is None else str(number),
    "boolean": lambda is_so: CHECKED if is_so else "",
    "array": lambda entries: ", ".join(entries or ()),
    "lines": lambda entries: "\n".join(entries or ()),
    # Credentials come last, because `kept_headers.put_together` appends them.
    "object": lambda headers: "\n".join(
        f"{name}: {value}"
        for name, value in sorted((headers or {}).items(), key=lambda each: each[1] == MASK)
    ),
    "assertions": lambda assertions: "\n".join(map(write_assertion, assertions or ())),
    "document": lambda _: "",  # documents are not stored
}


def _as_sent(name: str, text: str) -> str:
    """Return a field's text with LF as every line end, or without line ends if the field is a single line."""
    return _LINE_END.sub("\n" if name in MANY_LINES else "", text)


@cache
def judge() -> Check:
    """Return the form's validator. It is compiled once, at startup, because that takes half a second."""
    return check_of(_SCHEMA)


@cache
def kinds_of(monitor_type: str) -> Mapping[str, str]:
    """Return each field's kind: its JSON type, or the kind in `_OWN_KINDS` if it has a parser of its own."""
    fields = TYPE_FORMS[monitor_type].fields
    kinds = {name: next(iter(types_of(_schemas()[name])), "string") for name in fields}
    return kinds | {name: kind for name, kind in _OWN_KINDS.items() if name in kinds}


def _with_null(field: Node, target: Node) -> dict[str, Json]:
    """Return the `enum` of a nullable enumerated field, with null added; an empty dict for other fields."""
    return {"enum": [*target["enum"], None]} if "anyOf" in field and "enum" in target else {}


@cache
def _schemas() -> Mapping[str, Node]:
    """Return the schemas of all fields by field name, including the settings of types and contracts."""
    document = published_document()

    def fields_of(schema: Node, prefix: str) -> Iterator[tuple[str, Node]]:
        for name, written in schema["properties"].items():
            field = document.follow(written)
            if not prefix and name in TYPE_FORMS:
                yield from fields_of(field, f"{name}.")
            elif not prefix and name == _CONTRACT:
                yield from fields_of(document.root["components"]["schemas"][_CONTRACT_SCHEMA], f"{name}.")
            else:
                # References are in `allOf` if the field has a default, and in `anyOf` if it may be null.
                target = document.follow(*field.get("allOf", [without_null(field)]))
                yield prefix + name, {**field, **target, **_with_null(field, target)}

    return dict(fields_of(document.root["components"]["schemas"][_SCHEMA], ""))
