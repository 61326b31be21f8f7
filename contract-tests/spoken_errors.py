"""Finds the document's name for an error, of which the service's response contains only the sentence."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import orjson

from monitoring.contract.catalogue import FIRST_ERROR_STATUS, Catalogue, ErrorTemplate
from promises import DOCUMENT, JSON

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from monitoring.contract.document import Node

CATALOGUE = Catalogue(DOCUMENT)

NO_OPERATION = ""
SUCCESS = ""

# A kind of response: an operation, a status, and the name of an error.
Answer = tuple[str, int, str]


def documented_answers() -> Iterator[Answer]:
    """Yield every documented response. A successful response has no name."""
    for operation in DOCUMENT.operations.values():
        for status, response in operation.responses.items():
            is_error = int(status) >= FIRST_ERROR_STATUS
            for name in _names_in(response) if is_error else [SUCCESS]:
                yield operation.operation_id, int(status), name
    yield from ((NO_OPERATION, status, name) for status, name in _told_before_routing())


@cache
def name_error(operation_id: str, status: int, body: bytes) -> str | None:
    """Return the name of an error response, if the document has it for this operation or for no operation."""
    spoken = orjson.loads(body)
    names = _names_of(operation_id, status)
    return next((name for name in names if _says(CATALOGUE.templates[name], spoken)), None)


@cache
def _names_of(operation_id: str, status: int) -> list[str]:
    """Return the names of the errors that a response may contain, those with fixed sentences first.

    The sentence `{field}: {problem}` matches nearly every error.
    """
    names = [name for known, name in _told_before_routing() if known == status]
    if operation_id:
        names += _names_in(DOCUMENT.operations[operation_id].responses.get(str(status), {}))
    return sorted(names, key=lambda name: (CATALOGUE.templates[name].sentence or "").count("{"))


def _told_before_routing() -> Iterator[tuple[int, str]]:
    yield 400, "malformed_request"  # for a request whose path cannot be parsed
    for response in DOCUMENT.root["components"]["responses"].values():
        if "x-status" in response:
            yield from ((response["x-status"], name) for name in _names_in(response))


def _names_in(response: Node) -> list[str]:
    return [*response.get("content", {}).get(JSON, {}).get("examples", {})]


def _says(template: ErrorTemplate, body: Mapping[str, object]) -> bool:
    spoken = "error_description" if "error_description" in template.body else "error"
    sentence = template.sentence or template.body[spoken]
    return (
        body.keys() == template.body.keys()
        and _pattern_of(sentence).fullmatch(str(body[spoken])) is not None
        and (spoken == "error" or body["error"] == template.body["error"])
    )


@cache
def _pattern_of(sentence: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{\w+\\\}", ".*", re.escape(sentence)))
