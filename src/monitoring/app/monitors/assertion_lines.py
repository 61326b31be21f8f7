"""Parses and formats a monitor's assertions as text, one per line, such as `json $.status equals ok`.

Has no side effects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import orjson

from monitoring.contract.document import Json, published_document

# Some sources have a further field, which is written between the source and the comparison.
_SUBJECTS = {"json": "path", "header": "name"}

_JSON_SCALAR = re.compile(r"true|false|-?[0-9]+(\.[0-9]+)?|\".*\"", re.DOTALL)


class UnreadableLineError(Exception):
    """A line is not an assertion. `number` is its index among the non-empty lines, counted from 0."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def read_assertions(lines: Iterable[str]) -> list[dict[str, Json]]:
    """Parse one assertion from each non-empty line. Raises UnreadableLineError.

    A value that looks like a number, `true`, `false` or a quoted string is parsed as JSON. Any other value is
    text. Patterns are always text, and so are header values except in numeric comparisons.
    """
    filled = [line.strip() for line in lines if line.strip()]
    return [_read(number, line) for number, line in enumerate(filled)]


def write_assertion(assertion: Mapping[str, Json]) -> str:
    """Format an assertion as one line, for display and for `read_assertions` to parse."""
    subject = assertion.get(_SUBJECTS.get(assertion["source"], ""))
    words = [assertion["source"], subject, assertion["comparison"]]
    if "value" in assertion:
        is_pattern = assertion["comparison"].endswith("matches")
        words.append(_write_value(assertion["value"], is_text=is_pattern or assertion["source"] == "header"))
    return " ".join(filter(None, words))


def _read(number: int, line: str) -> dict[str, Json]:
    found = _line().fullmatch(line)
    if not found:
        raise UnreadableLineError(number)
    source, subject, comparison, value = found.groups()
    read: dict[str, Json] = {"source": source}
    if subject:
        read[_SUBJECTS.get(source, "name")] = subject
    read["comparison"] = comparison
    if value is not None:
        is_text = comparison.endswith("matches") or (source == "header" and not comparison.endswith("than"))
        read["value"] = value if is_text else _read_value(value)
    return read


def _read_value(text: str) -> Json:
    if not _JSON_SCALAR.fullmatch(text):
        return text
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _write_value(value: Json, *, is_text: bool) -> str:
    if isinstance(value, str) and (is_text or _read_value(value) == value == " ".join(value.split())):
        return value
    return orjson.dumps(value).decode()


def _line() -> re.Pattern[str]:
    """Return the pattern for an assertion's line.

    The first word after the source that names a comparison is taken as the comparison.
    """
    schemas = published_document().root["components"]["schemas"]
    sources = "|".join(schemas["AssertionSource"]["enum"])
    comparisons = "|".join(schemas["AssertionComparison"]["enum"])
    return re.compile(rf"({sources})(?:\s+(\S.*?))??\s+({comparisons})(?:\s+(.+))?", re.DOTALL)
