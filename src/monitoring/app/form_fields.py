"""Helpers for all forms: they convert submitted text to JSON, and assign error messages to fields.

They have no side effects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import published_document
from monitoring.contract.problems import Problem
from monitoring.contract.validation import Check, Validation, rules_of

# The key of an error message that concerns no single field.
WHOLE_FORM = ""

_ENTRY = re.compile(r"[^,\s]+")
_FIELD_NAME = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
_MAX_SHOWN_CHARACTERS = 40


def split_entries(text: str) -> list[str]:
    """Split a field's text into entries, which are separated by commas or spaces."""
    return _ENTRY.findall(text)


def read_tags(text: str) -> list[str]:
    """Split a field's text into tags, in lower case."""
    return split_entries(text.lower())


def document_rules() -> Validation:
    """Return the API document's validation rules for requests."""
    return rules_of(published_document())


def check_of(schema_name: str) -> Check:
    """Return a validator for the API document's schema `schema_name`.

    The validator raises a Problem for the first error, with all further errors in `others`.
    """
    return document_rules().form_check({"$ref": f"#/components/schemas/{schema_name}"}, "form")


def refuse(problems: list[Problem]) -> None:
    """Raise the first problem, with the rest in its `others`. Do nothing if the list is empty."""
    if problems:
        problems[0].others = problems[1:]
        raise problems[0]


def sentences_of(
    problem: Problem, catalogue: Catalogue, place: Callable[[Problem, str], tuple[str, str]]
) -> dict[str, str]:
    """Return the messages of a problem and its `others`, by field. Each field gets its first message only.

    `place` takes a problem and its message in the document, and returns the field and the message to show.
    """
    placed: dict[str, str] = {}
    for each in (problem, *problem.others):
        response = catalogue.respond(each.name, each.headers, each.values)
        field, words = place(each, response.body["error"])
        placed.setdefault(field, words)
    return placed


def include_present(options: tuple[tuple[str, str], ...], seconds: str) -> tuple[tuple[str, str], ...]:
    """Return a select field's options, with the current value `seconds` appended if no option has it.

    A value that is not a number is not appended.
    """
    if seconds in dict(options) or not seconds.isdecimal():
        return options
    return (*options, (seconds, f"{int(seconds):,} seconds"))


def quote_labels(words: str, labels: Mapping[str, str]) -> str:
    """Replace the field names in a message with their quoted labels."""
    return _FIELD_NAME.sub(lambda found: f"“{labels[found[0]]}”" if found[0] in labels else found[0], words)


def name_entry(text: str, number: int, words: str) -> str:
    """Prefix a message with the entry of a field's text that the message is about.

    `number` is the entry's position, counted from 0. A long entry is truncated.
    """
    return f"{split_entries(text)[number][:_MAX_SHOWN_CHARACTERS]}: {words}"
