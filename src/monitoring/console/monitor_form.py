"""Monitor forms: what was typed becomes the JSON of the document's MonitorCreate, which judges it. Pure."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from monitoring.console.monitor_words import HINTS, LABELS
from monitoring.console.published import published_rules
from monitoring.contract.document import published_document
from monitoring.contract.problems import Problem
from monitoring.monitors.configuration import default_configuration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from monitoring.contract.catalogue import Catalogue
    from monitoring.contract.document import Json, Node
    from monitoring.contract.validation import Check
    from monitoring.monitors.configuration import Configuration

Texts = dict[str, str]

CHECKED = "on"

# The key of an error that is about no field alone.
WHOLE_FORM = ""

_SCHEMA = "MonitorCreate"
_MAX_SHOWN_CHARACTERS = 40

_LINE_END = re.compile(r"\r\n?|\n")
_ENTRY = re.compile(r"[^,\s]+")
_FIELD_NAME = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
_INTEGER = re.compile(r"-?[0-9]{1,18}")

_MANY_LINES = {"request_headers", "request_body"}
_TRIMMED = {"name", "url"}


def read_form(form: Mapping[str, str], saved: Configuration | None = None) -> Configuration:
    """Read a MonitorCreate, in which whatever was left empty is left out.

    `saved` is what an edited form began with. Text that still says the same keeps its value: browsers cannot
    carry each one (they end every line with CRLF, and have no line ends in a line). Raises Problem for the
    first field that is not as the document demands.
    """
    untouched = write_form(saved) if saved else {}
    read: dict[str, Json] = {}
    for name, kind in _kinds().items():
        text = form.get(name, "")
        if saved and _as_sent(name, text) == _as_sent(name, untouched[name]):
            read[name] = saved[name]
        else:
            read[name] = _READERS[kind](name, text)
    given = {name: value for name, value in read.items() if value is not None}
    judge()(given)
    return given


def write_form(configuration: Mapping[str, Json]) -> Texts:
    """Write what the fields of a form show; what the configuration lacks is empty."""
    return {name: _WRITERS[kind](configuration.get(name)) for name, kind in _kinds().items()}


def write_new_form() -> Texts:
    """Write what a form shows before anything is typed: the defaults."""
    return write_form(default_configuration())


@cache
def write_hints() -> Texts:
    """Write what each field takes, with the bounds of the document."""
    return {name: hint.format_map(_schemas()[name]) for name, hint in HINTS.items()}


def echo_form(form: Mapping[str, str]) -> Texts:
    """Repeat what was typed, however wrong."""
    return {name: form.get(name, "") for name in _kinds()}


def patch_from(given: Configuration, saved: Configuration) -> dict[str, Json]:
    """Write a merge patch of every field that turns what is saved into what the form says."""
    headers = {**dict.fromkeys(saved["request_headers"]), **given.get("request_headers", {})}
    return {**dict.fromkeys(_kinds()), **given, "request_headers": headers}


def place_problem(problem: Problem, catalogue: Catalogue, form: Mapping[str, str]) -> Texts:
    """Return the problem's sentence under the field that it names, or under `WHOLE_FORM`.

    A problem of one entry of a field names the entry as it was typed.
    """
    sentence = catalogue.reply(problem.name, problem.headers, problem.values).body["error"]
    path, _, words = sentence.partition(": ")
    name, _, entry = path.partition(".")
    if name not in _kinds():
        return {WHOLE_FORM: sentence}
    words = _FIELD_NAME.sub(_quote_label, words)
    if not entry:
        return {name: words[:1].upper() + words[1:]}
    if _kinds()[name] == "array":
        entry = _ENTRY.findall(form.get(name, ""))[int(entry)][:_MAX_SHOWN_CHARACTERS]
    return {name: f"{entry}: {words}"}


def _quote_label(matched: re.Match[str]) -> str:
    label = LABELS.get(matched[0])
    return f"“{label}”" if label else matched[0]


def _read_text(name: str, text: str) -> str | None:
    if name in _TRIMMED:
        text = text.strip()
    return _LINE_END.sub("\n", text) or None


def _read_integer(_: str, text: str) -> int | str | None:
    """Read a number; what is none stays text, for the schema to refuse."""
    text = text.strip()
    return int(text) if _INTEGER.fullmatch(text) else text or None


def _read_boolean(_: str, text: str) -> bool:
    return bool(text)


def _read_entries(_: str, text: str) -> list[str] | None:
    return _ENTRY.findall(text) or None


def _read_headers(name: str, text: str) -> dict[str, str] | None:
    """Read `Name: value` line by line. Not `splitlines()`: a value may hold what Unicode ends lines with."""
    headers: dict[str, str] = {}
    for line in filter(None, (line.strip(" \t") for line in _LINE_END.split(text))):
        header, colon, value = line.partition(":")
        if not colon:
            raise published_rules().sentences.invalid_field(name, "pattern")
        if header in headers:
            raise Problem("request_header_repeated", name=header)
        headers[header] = value.strip(" \t")
    return headers or None


# By the type that the document gives a field.
_READERS: Mapping[str, Callable[[str, str], Json]] = {
    "string": _read_text,
    "integer": _read_integer,
    "boolean": _read_boolean,
    "array": _read_entries,
    "object": _read_headers,
}
_WRITERS: Mapping[str, Callable[[Json], str]] = {
    "string": lambda text: text or "",
    "integer": lambda number: "" if number is None else str(number),
    "boolean": lambda is_so: CHECKED if is_so else "",
    "array": lambda entries: ", ".join(entries or ()),
    "object": lambda headers: "\n".join(f"{name}: {value}" for name, value in (headers or {}).items()),
}


def _as_sent(name: str, text: str) -> str:
    """Return a text as it is after a browser showed and sent it."""
    return _LINE_END.sub("\n" if name in _MANY_LINES else "", text)


@cache
def judge() -> Check:
    """Return the document's judgement, compiled once; half a second that no request should wait."""
    return published_rules().request_check({"$ref": f"#/components/schemas/{_SCHEMA}"}, "form")


@cache
def _kinds() -> Mapping[str, str]:
    """Return the type of every field; the method, which refers to an enumeration, is text."""
    return {name: schema.get("type", "string") for name, schema in _schemas().items()}


@cache
def _schemas() -> Mapping[str, Node]:
    """Return the schema of every field, in the order of the document."""
    document = published_document()
    properties = document.root["components"]["schemas"][_SCHEMA]["properties"]
    return {name: document.follow(schema) for name, schema in properties.items()}
