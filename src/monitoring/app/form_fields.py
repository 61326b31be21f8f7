"""What forms have in common: typed text becomes JSON, and errors are shown beside their fields. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import published_document
from monitoring.contract.problems import Problem
from monitoring.contract.validation import Check, Validation, rules_of

# The key of an error that concerns no single field.
WHOLE_FORM = ""

_ENTRY = re.compile(r"[^,\s]+")
_FIELD_NAME = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
_MAX_SHOWN_CHARACTERS = 40


def split_entries(text: str) -> list[str]:
    """Return the entries that were typed into one field, with commas or spaces between them."""
    return _ENTRY.findall(text)


def read_tags(text: str) -> list[str]:
    """Return the entries as tags, in lower case."""
    return split_entries(text.lower())


def document_rules() -> Validation:
    """Return the document's rules for requests."""
    return rules_of(published_document())


def check_of(schema_name: str) -> Check:
    """Compile the document's check of a form. It raises a Problem, whose `others` have all that is wrong."""
    return document_rules().form_check({"$ref": f"#/components/schemas/{schema_name}"}, "form")


def refuse(problems: list[Problem]) -> None:
    """Raise the first of some problems, with the others in `others`."""
    if problems:
        problems[0].others = problems[1:]
        raise problems[0]


def sentences_of(
    problem: Problem, catalogue: Catalogue, place: Callable[[Problem, str], tuple[str, str]]
) -> dict[str, str]:
    """Return the sentences of a problem and its `others`, by field. A field has one, the first.

    `place` gets a problem and its sentence in the document, and returns the field and the sentence to show.
    """
    placed: dict[str, str] = {}
    for each in (problem, *problem.others):
        response = catalogue.respond(each.name, each.headers, each.values)
        field, words = place(each, response.body["error"])
        placed.setdefault(field, words)
    return placed


def include_present(options: tuple[tuple[str, str], ...], seconds: str) -> tuple[tuple[str, str], ...]:
    """Return the options, and the present value too if a client chose another one."""
    if seconds in dict(options) or not seconds.isdecimal():
        return options
    return (*options, (seconds, f"{int(seconds):,} seconds"))


def quote_labels(words: str, labels: Mapping[str, str]) -> str:
    """Replace the names of fields by their labels."""
    return _FIELD_NAME.sub(lambda found: f"“{labels[found[0]]}”" if found[0] in labels else found[0], words)


def name_entry(text: str, number: int, words: str) -> str:
    """Name the entry of a field that a sentence is about, as it was typed."""
    return f"{split_entries(text)[number][:_MAX_SHOWN_CHARACTERS]}: {words}"
