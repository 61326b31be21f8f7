"""Evaluates a monitor's assertions about a response. Has no side effects.

No failure message quotes the response.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import orjson

from monitoring.checks.probes.keywords import decode_body
from monitoring.contract.document import Json
from monitoring.monitors.assertions import BY_PATTERN
from monitoring.monitors.json_paths import count_values, read_path
from monitoring.monitors.patterns import TooMuchWorkError, read_pattern
from monitoring.monitors.shown_text import shorten
from monitoring.outbound.answers import MAX_BODY_BYTES
from monitoring.outbound.exchanges import Exchange
from monitoring.outbound.failures import FailureCode

MAX_SHOWN_CHARACTERS = 80

MISSING = "the value is missing"
THERE = "the value is there"
OF_ANOTHER_TYPE = "the value is of another type"
DIFFERENT = "the value is different"
NOT_JSON = "the answer is not JSON"

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?")


class Failed(NamedTuple):
    """Why an assertion fails: a code of CheckError in the OpenAPI document, and a sentence."""

    error: str
    message: str


def find_failed(assertions: Sequence[Mapping[str, Json]], exchange: Exchange) -> Failed | None:
    """Evaluate the assertions in order, and return the first that fails, or None.

    With a large body, this takes up to two seconds. The GIL is released for most of that time.
    """
    answer = _Answer(exchange)
    for number, assertion in enumerate(assertions, start=1):
        name = _name_of(number, assertion)
        try:
            fault = _find_fault(assertion, answer)
        except TooMuchWorkError:
            return Failed(FailureCode.RESPONSE_TOO_LARGE, f"{name}: the answer is too large for it")
        except _CutError:
            size = f"the answer is larger than {MAX_BODY_BYTES:,} bytes"
            return Failed(FailureCode.RESPONSE_TOO_LARGE, f"{name}: {size}")
        if fault:
            return Failed("assertion_failed", f"{name}: {fault}")
    return None


class _CutError(Exception):
    """The value to compare may be in the part of the body that was not read."""


class _NotJsonError(Exception):
    pass


class _Answer:
    """A response. Its body is decoded and parsed only if an assertion needs the result."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    @property
    def is_cut(self) -> bool:
        return self._exchange.is_cut

    @property
    def first_byte_ms(self) -> int | None:
        milliseconds = self._exchange.timings.first_byte_ms
        return None if milliseconds is None else round(milliseconds)

    def header(self, name: str) -> str | None:
        values = self._exchange.headers.get(name.lower().encode(), ())
        return b", ".join(values).decode("latin-1") if values else None

    @cached_property
    def text(self) -> str:
        content_type = (self.header("Content-Type") or "").rpartition(",")[2]
        return decode_body(self._exchange.body, content_type)

    @cached_property
    def json(self) -> Json:
        if self.is_cut:
            raise _CutError
        try:
            return orjson.loads(self.text)
        except orjson.JSONDecodeError:
            raise _NotJsonError from None

    @cached_property
    def value_count(self) -> int:
        return count_values(self.text)


def _name_of(number: int, assertion: Mapping[str, Json]) -> str:
    shown = shorten(assertion.get("path") or assertion.get("name") or "", MAX_SHOWN_CHARACTERS)
    return f"Assertion {number} ({assertion['source']}{shown and ' '}{shown})"


def _find_fault(assertion: Mapping[str, Json], answer: _Answer) -> str | None:
    comparison, value = assertion["comparison"], assertion.get("value")
    match assertion["source"]:
        case "json":
            try:
                found: Iterable[Json] = read_path(assertion["path"]).find(answer.json, answer.value_count)
                return _find_fault_of_any(comparison, found, value)
            except _NotJsonError:
                return NOT_JSON
        case "header":
            header = answer.header(assertion["name"])
            found = [] if header is None else [_read_header(comparison, header)]
            return _find_fault_of_any(comparison, found, value)
        case "body":
            is_found = read_pattern(value).is_in(answer.text)
            if answer.is_cut and not is_found:
                raise _CutError
            return None if is_found == (comparison == "matches") else DIFFERENT
        case _:
            found = [] if answer.first_byte_ms is None else [answer.first_byte_ms]
            return _find_fault_of_any(comparison, found, value)


def _read_header(comparison: str, header: str) -> Json:
    if comparison in ("greater_than", "less_than") and _NUMBER.fullmatch(header):
        return float(header)
    return header


def _find_fault_of_any(comparison: str, found: Iterable[Json], value: Json) -> str | None:
    """Compare each of the values `found` with `value`. Return the first fault, or None."""
    is_missing = True
    for each in found:
        is_missing = False
        if comparison == "exists":
            return None
        if fault := THERE if comparison == "not_exists" else _compare(comparison, each, value):
            return fault
    return MISSING if is_missing and comparison != "not_exists" else None


def _compare(comparison: str, found: Json, value: Json) -> str | None:
    positive = comparison.removeprefix("not_")
    if positive == "equals" and _type_of(found) != _type_of(value):
        return OF_ANOTHER_TYPE if comparison == positive else None
    holds = _holds(positive, found, value)
    if holds is None:
        return OF_ANOTHER_TYPE
    return None if holds == (comparison == positive) else DIFFERENT


def _holds(comparison: str, found: Json, value: Json) -> bool | None:
    """Return whether a comparison of `found` with `value` holds, or None if their types do not support it."""
    if comparison == "equals":
        return bool(found == value)
    if comparison == "contains" and isinstance(found, list):
        return any(_type_of(each) == _type_of(value) and each == value for each in found)
    if comparison in ("greater_than", "less_than"):
        if _type_of(found) != "number":
            return None
        return bool(found > value if comparison == "greater_than" else found < value)
    if not isinstance(found, str) or not isinstance(value, str):
        return None
    return read_pattern(value).is_in(found) if comparison in BY_PATTERN else value in found


def _type_of(value: Json) -> str:
    """Return the type of a JSON value: `number` for an int or float, otherwise its Python type's name."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    return type(value).__name__
