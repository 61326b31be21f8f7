"""Validates a response against a contract's rules. Has no side effects.

Validation against a hostile schema can take a long time, so `isolation.py` runs this module in a separate
process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import orjson

from monitoring.contract.document import Json
from monitoring.monitors.shown_text import shorten

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

MAX_COMPILED = 64
MAX_POINTER_CHARACTERS = 80
MAX_SENTENCE_CHARACTERS = 100
MAX_PATTERN_BYTES = 1_048_576


class Violation(NamedTuple):
    """How a response violates its contract.

    `pointer` is a JSON Pointer (RFC 6901) into the body; it is empty if the violation concerns the whole
    response. `sentence` describes the violation, and quotes no value from the response.
    """

    pointer: str
    sentence: str


class Rules:
    """An operation's rules. Each schema is compiled when a response is first validated against it.

    `compile_all` raises ValueError for a schema that cannot be compiled.
    """

    def __init__(self, rules: Mapping[str, Json]) -> None:
        self._responses = rules["responses"]
        self._definitions = rules["$defs"]
        self._compiled: dict[int, Draft202012Validator] = {}

    def compile_all(self) -> None:
        """Compile every schema. Raises ValueError for an invalid one."""
        for response in self._responses.values():
            for schema in response["content"].values():
                self._compile(schema)
            for header in response["headers"].values():
                self._compile(header["schema"])

    def judge(self, status_code: int, headers: Mapping[str, str], body: str | None) -> Violation | None:
        """Return the first violation of these rules by a response, or None.

        The names in `headers` are in lower case. If `body` is None, only the status and the headers are
        validated.
        """
        response = self._find_response(status_code)
        if response is None:
            return Violation("", f"status {status_code} is not documented")
        return self._judge_headers(response["headers"], headers) or (
            None if body is None else self._judge_body(response["content"], headers, body)
        )

    def _find_response(self, status_code: int) -> Mapping[str, Json] | None:
        for key in (str(status_code), f"{status_code // 100}XX", "DEFAULT"):
            if key in self._responses:
                response: Mapping[str, Json] = self._responses[key]
                return response
        return None

    def _judge_headers(self, rules: Mapping[str, Json], headers: Mapping[str, str]) -> Violation | None:
        for name, rule in rules.items():
            if name not in headers:
                if rule["required"]:
                    return Violation("", f"the header {name} is missing")
            elif not self._is_valid_header(rule["schema"], headers[name]):
                return Violation("", f"the header {name} is not as its schema says")
        return None

    def _is_valid_header(self, schema: Json, value: str) -> bool:
        """Return whether a header's value is valid in at least one interpretation.

        A value with a comma or `=` may be a list or an object in one of OpenAPI's styles, so it is
        interpreted as text, as a list of texts, and as an empty object. Any other value is interpreted as
        text, as JSON, and as a list with one item.
        """
        validator = self._compile(schema)
        return validator.is_valid(value) or any(map(validator.is_valid, _read_otherwise(value)))

    def _judge_body(
        self, content: Mapping[str, Json], headers: Mapping[str, str], body: str
    ) -> Violation | None:
        if not content:
            return None
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        documented = _find_media_type(content, media_type)
        if documented is None:
            return Violation("", "the media type is not documented")
        if media_type != "application/json" and not media_type.endswith("+json"):
            return None
        try:
            value = orjson.loads(body)
        except orjson.JSONDecodeError:
            return Violation("", "the body is not JSON")
        for error in self._compile(content[documented]).iter_errors(value):
            return Violation(
                _write_pointer(error.instance_path), shorten(error.message, MAX_SENTENCE_CHARACTERS)
            )
        return None

    def _compile(self, schema: Json) -> Draft202012Validator:
        from jsonschema_rs import Draft202012Validator, RegexOptions  # noqa: PLC0415 - only the other process compiles

        compiled = self._compiled.get(id(schema))
        if compiled is None:
            compiled = self._compiled[id(schema)] = Draft202012Validator(
                {"allOf": [schema], "$defs": self._definitions},
                validate_formats=True,
                pattern_options=RegexOptions(size_limit=MAX_PATTERN_BYTES),
                mask="value",
                offline=True,
            )
        return compiled


@lru_cache(MAX_COMPILED)
def read_rules(written: bytes) -> Rules:
    """Parse rules from JSON."""
    return Rules(orjson.loads(written))


def _find_media_type(content: Mapping[str, Json], media_type: str) -> str | None:
    for each in (media_type, f"{media_type.partition('/')[0]}/*", "*/*"):
        if each in content:
            return each
    return None


def _read_otherwise(value: str) -> Sequence[Json]:
    if "," in value or "=" in value:
        return [value.split(","), {}]
    try:
        read = orjson.loads(value)
    except orjson.JSONDecodeError:
        return [[value]]
    return [read, [read]]


def _write_pointer(path: Sequence[str | int]) -> str:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return shorten("".join(f"/{step}" for step in steps), MAX_POINTER_CHARACTERS)
