"""Path, query and header parameters: text converted to the documented types, then validated."""

import keyword
import math
import re
from collections.abc import Callable, Iterable, Mapping

from monitoring.contract.bodies import Headers
from monitoring.contract.document import Document, Json, Node, Operation
from monitoring.contract.problems import Problem
from monitoring.contract.urlencoding import parse_pairs
from monitoring.contract.validation import Validation

MAX_QUERY_PAIRS = 100

Pairs = Iterable[tuple[str, str]]


class Parameters:
    """All parameters of one operation, by handler argument name."""

    def __init__(self, operation: Operation, document: Document, validation: Validation) -> None:
        lenient = bool(operation.definition.get("x-lenient-parameters"))
        self._path = _Group(operation, "path", document, validation)
        self._query = _Group(operation, "query", document, validation, closed=not lenient)
        self._header = _Group(operation, "header", document, validation)
        self._header_names = {name.lower().encode(): name for name in self._header.schemas}
        self._argument_names = {
            name: argument_name(name) for name in (*self._query.schemas, *self._header.schemas)
        }
        self._absent = {item["name"]: item["x-absent"] for item in operation.parameters if "x-absent" in item}

    @property
    def names(self) -> list[str]:
        """The argument names that `read` can return: path parameters first, in the order of the document."""
        return [*self._path.schemas, *self._argument_names.values()]

    def read(self, path: Mapping[str, str], query_string: bytes, headers: Headers) -> dict[str, Json]:
        """Parse and validate a request's parameters, and fill in defaults. Raises Problem."""
        arguments = self._read_path(path) if self._path.schemas else {}
        if query_string or self._query.schemas:
            arguments |= self._named(self._query.read(_query_pairs(query_string)))
        if self._header_names:
            sent = [header for header in headers if header[0] in self._header_names]
            if sent or self._header.says_something_unsent:
                arguments |= self._named(self._header.read(self._header_pairs(sent)))
        return arguments

    def _named(self, values: Mapping[str, Json]) -> dict[str, Json]:
        """Key the values by the names of the handler's arguments. Undocumented parameters are dropped."""
        names = self._argument_names
        return {names[name]: value for name, value in values.items() if name in names}

    def _read_path(self, path: Mapping[str, str]) -> dict[str, Json]:
        """Parse path parameters. A malformed id raises the same Problem as an unknown id (`x-absent`)."""
        try:
            return self._path.read(path.items())
        except Problem as problem:
            if absent := self._absent.get(str(problem.values.get("field"))):
                raise Problem(absent) from None
            raise

    def _header_pairs(self, headers: Iterable[tuple[bytes, bytes]]) -> Pairs:
        for raw_name, raw_value in headers:
            try:
                yield self._header_names[raw_name], raw_value.decode("ascii").strip(" \t")  # RFC 9110 §5.5
            except UnicodeDecodeError:
                raise Problem("malformed_request") from None


class _Group:
    """An operation's parameters in the path, query or headers. `closed` refuses undocumented names."""

    def __init__(
        self,
        operation: Operation,
        place: str,
        document: Document,
        validation: Validation,
        *,
        closed: bool = False,
    ) -> None:
        parameters = [parameter for parameter in operation.parameters if parameter["in"] == place]
        self.schemas: Mapping[str, Node] = {item["name"]: item["schema"] for item in parameters}
        followed = {name: document.follow(schema) for name, schema in self.schemas.items()}
        self._defaults = {name: schema["default"] for name, schema in followed.items() if "default" in schema}
        self._repeatable = {
            item["name"]
            for item in parameters
            if followed[item["name"]].get("type") == "array" and item.get("explode", place == "query")
        }
        self._casts = {
            name: cast_for(schema["items"] if name in self._repeatable else schema, document)
            for name, schema in followed.items()
        }
        self._is_optional = not any(item.get("required") for item in parameters)
        self.says_something_unsent = bool(self._defaults) or not self._is_optional
        self._sentences = validation.sentences
        self._check = validation.request_check(
            {
                "type": "object",
                "properties": self.schemas,
                "required": [item["name"] for item in parameters if item.get("required")],
                "additionalProperties": not closed,
            },
            root_field=place,
        )

    def read(self, pairs: Pairs) -> dict[str, Json]:
        values: dict[str, Json] = {}
        for name, text in pairs:
            if name in self._repeatable:
                values.setdefault(name, []).append(self._casts[name](text))
            elif name in values:
                raise self._sentences.invalid_field(name, "repeated")
            else:
                values[name] = self._casts.get(name, str)(text)
        if not values and self._is_optional:
            return dict(self._defaults)
        self._check(values)
        return {**self._defaults, **values}


def argument_name(name: str) -> str:
    """Return a parameter's argument name: `idempotency_key` for `Idempotency-Key`, `from_` for `from`."""
    argument = name.lower().replace("-", "_")
    return f"{argument}_" if keyword.iskeyword(argument) else argument


def cast_for(schema: Node, document: Document) -> Callable[[str], Json]:
    """Return a converter for a parameter's text. Text that cannot be converted is returned unchanged."""
    schema = document.follow(schema)
    if schema.get("type") == "array":
        cast_item = cast_for(schema["items"], document)
        return lambda text: [cast_item(item) for item in text.split(",")]
    return CASTS.get(schema.get("type", ""), str)


def _query_pairs(query_string: bytes) -> Pairs:
    try:
        return parse_pairs(query_string, MAX_QUERY_PAIRS)
    except ValueError:
        raise Problem("malformed_request") from None


def _integer_or_text(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else text


def _number_or_text(text: str) -> float | str:
    if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", text):
        return text
    number = float(text)
    return text if math.isinf(number) else number


def _boolean_or_text(text: str) -> bool | str:
    return {"true": True, "false": False}.get(text, text)


CASTS: Mapping[str, Callable[[str], Json]] = {
    "integer": _integer_or_text,
    "number": _number_or_text,
    "boolean": _boolean_or_text,
}
