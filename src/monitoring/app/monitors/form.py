"""Monitor forms: typed text becomes a MonitorCreate, which the document's schema validates. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

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
from monitoring.app.monitors.labels import FORM_ORDER, HINTS, LABELS
from monitoring.backends.encryption import MASK
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import Json, Node, published_document
from monitoring.contract.problems import Problem
from monitoring.contract.schemas import types_of
from monitoring.contract.validation import Check
from monitoring.monitors.configuration import Configuration, default_configuration

Texts = dict[str, str]

CHECKED = "on"

_CHOSEN_INTERVAL = "interval_choice"

_SCHEMA = "MonitorCreate"
_OF_API = {"contract"}  # a form keeps it as it is

_LINE_END = re.compile(r"\r\n?|\n")
_INTEGER = re.compile(r"-?[0-9]{1,18}")
# What people call a site: a host without its scheme.
_SITE = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\[\]]+)(?P<port>:[0-9]+)?(?:[/?#].*)?", re.DOTALL)

_MANY_LINES = {"request_headers", "request_body", "assertions", "certificate_authority", "client_certificate"}
_TRIMMED = {"name", "url"}


def read_form(form: Mapping[str, str], saved: Configuration | None = None) -> Configuration:
    """Read a MonitorCreate, without the fields that were left empty.

    `saved` is the configuration an edited form began with. A field with unchanged text keeps its saved value,
    because browsers change some values: they end every line with CRLF, and drop line ends from one-line
    fields. Raises Problem for the first field that breaks the document's rules; `others` has the rest.
    """
    untouched = write_form(saved) if saved else {}
    read: dict[str, Json] = {}
    unreadable: list[Problem] = []
    for name, kind in _kinds().items():
        text = form.get(name, "")
        if saved and _as_sent(name, text) == _as_sent(name, untouched[name]):
            read[name] = saved[name]
        else:
            try:
                read[name] = _READERS[kind](name, text)
            except Problem as problem:
                unreadable.append(problem)
    given = {name: value for name, value in read.items() if value is not None}
    try:
        judge()(_without_masks(given) if saved else given)
    except Problem as problem:
        unreadable += (problem, *problem.others)
    refuse(unreadable)
    return given


def _without_masks(given: Configuration) -> Configuration:
    """Leave out the credentials that a form shows as masks: they stay as they are saved."""
    headers = given.get("request_headers", {})
    shown = {name: value for name, value in headers.items() if value != MASK}
    others = {name: value for name, value in given.items() if value != MASK}
    return {**others, "request_headers": shown}


def complete_form(form: Mapping[str, str]) -> Mapping[str, str]:
    """Return the form with what its sender left to us.

    The interval is the one that was chosen from the list; "other" leaves what was typed. A URL without a
    scheme gets one, if it begins with what looks like a host.
    """
    completed = {**form, "url": _complete_url(form.get("url", ""))}
    chosen = form.get(_CHOSEN_INTERVAL)
    return {**completed, "interval_seconds": chosen} if chosen else completed


def _complete_url(text: str) -> str:
    site = _SITE.fullmatch(text.strip())
    if not site:
        return text
    host, port = site["host"], site["port"]
    looks_like_host = "." in host or host.startswith("[") or port or host.lower() == "localhost"
    return f"https://{text.strip()}" if looks_like_host else text


def write_form(configuration: Mapping[str, Json]) -> Texts:
    """Write the texts of a form's fields; a field that the configuration lacks is empty."""
    return {name: _WRITERS[kind](configuration.get(name)) for name, kind in _kinds().items()}


def write_new_form() -> Texts:
    """Write the texts of a new form: the defaults."""
    return write_form(default_configuration())


@cache
def write_hints() -> Texts:
    """Write each field's hint, with the bounds of the document."""
    return {name: hint.format_map(_schemas()[name]) for name, hint in HINTS.items()}


def echo_form(form: Mapping[str, str]) -> Texts:
    """Repeat what was typed, however wrong."""
    return {name: form.get(name, "") for name in _kinds()}


def patch_from(given: Configuration, saved: Configuration) -> dict[str, Json]:
    """Write a merge patch that names every field and turns what is saved into what the form says."""
    headers = {**dict.fromkeys(saved["request_headers"]), **given.get("request_headers", {})}
    return {**dict.fromkeys(_kinds()), **given, "request_headers": headers}


def place_problem(problem: Problem, catalogue: Catalogue, form: Mapping[str, str]) -> Texts:
    """Return the sentences of a problem and its `others`, by field and in the order of the form.

    What is about no single field stands under `WHOLE_FORM`. A field has one sentence, the first. A problem
    with one entry of a field names that entry as it was typed.
    """

    def place(_problem: Problem, sentence: str) -> tuple[str, str]:
        path, _, words = sentence.partition(": ")
        name, _, entry = path.partition(".")
        if name not in _kinds():
            return WHOLE_FORM, sentence
        words = quote_labels(words, LABELS)
        if not entry:
            return name, capitalize(words)
        if name == "assertions":
            return name, f"Assertion {int(entry.partition('.')[0]) + 1}: {words}"
        if _kinds()[name] == "array":
            return name, name_entry(form.get(name, ""), int(entry), words)
        return name, f"{entry}: {words}"

    placed = sentences_of(problem, catalogue, place)
    return {name: placed[name] for name in (WHOLE_FORM, *FORM_ORDER) if name in placed}


def _read_text(name: str, text: str) -> str | None:
    if name in _TRIMMED:
        text = text.strip()
    return _LINE_END.sub("\n", text) or None


def _read_integer(_: str, text: str) -> int | str | None:
    """Read a number. Any other text stays text, for the schema to refuse."""
    text = text.strip()
    return int(text) if _INTEGER.fullmatch(text) else text or None


def _read_boolean(_: str, text: str) -> bool:
    return bool(text)


def _read_entries(name: str, text: str) -> list[str] | None:
    return (read_tags(text) if name == "tags" else split_entries(text)) or None


def _read_headers(name: str, text: str) -> dict[str, str] | None:
    """Read `Name: value` line by line. `splitlines()` would also split values at Unicode's line ends."""
    headers: dict[str, str] = {}
    for line in filter(None, (line.strip(" \t") for line in _LINE_END.split(text))):
        header, colon, value = line.partition(":")
        if not colon:
            raise document_rules().sentences.invalid_field(name, "pattern")
        headers[header] = value.strip(" \t")
    return headers or None


def _read_assertions(name: str, text: str) -> list[dict[str, Json]] | None:
    try:
        return read_assertions(_LINE_END.split(text)) or None
    except UnreadableLineError as error:
        raise document_rules().sentences.invalid_field([name, error.number], "pattern") from None


# By the type that the document gives a field.
_READERS: Mapping[str, Callable[[str, str], Json]] = {
    "string": _read_text,
    "integer": _read_integer,
    "boolean": _read_boolean,
    "array": _read_entries,
    "object": _read_headers,
    "assertions": _read_assertions,
}
_WRITERS: Mapping[str, Callable[[Json], str]] = {
    "string": lambda text: text or "",
    "integer": lambda number: "" if number is None else str(number),
    "boolean": lambda is_so: CHECKED if is_so else "",
    "array": lambda entries: ", ".join(entries or ()),
    # Credentials come last, where `kept_headers.put_together` puts them.
    "object": lambda headers: "\n".join(
        f"{name}: {value}"
        for name, value in sorted((headers or {}).items(), key=lambda each: each[1] == MASK)
    ),
    "assertions": lambda assertions: "\n".join(map(write_assertion, assertions or ())),
}


def _as_sent(name: str, text: str) -> str:
    """Return a text as a browser sends it back."""
    return _LINE_END.sub("\n" if name in _MANY_LINES else "", text)


@cache
def judge() -> Check:
    """Return the document's check of a form. Compiled once, at the start: it takes half a second."""
    return check_of(_SCHEMA)


@cache
def _kinds() -> Mapping[str, str]:
    """Return the type of every field; the method, which refers to an enumeration, is text."""
    kinds = {name: next(iter(types_of(schema)), "string") for name, schema in _schemas().items()}
    return {**kinds, "assertions": "assertions"}


@cache
def _schemas() -> Mapping[str, Node]:
    """Return the schema of every field, in the order of the document."""
    document = published_document()
    properties = document.root["components"]["schemas"][_SCHEMA]["properties"]
    return {name: document.follow(schema) for name, schema in properties.items() if name not in _OF_API}
