"""Request bodies, parsed by media type and validated against the document."""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache

from monitoring.contract.document import Document, Json, Node, Operation
from monitoring.contract.integers import integers_of
from monitoring.contract.problems import Problem
from monitoring.contract.sentences import Sentences
from monitoring.contract.strict_json import UnfitJsonError, parse_json
from monitoring.contract.urlencoding import parse_pairs
from monitoring.contract.validation import Validation

FORM = "application/x-www-form-urlencoded"
MAX_FORM_FIELDS = 100
ROOT_FIELD = "body"

Read = Callable[[bytes], Json]
Headers = Iterable[tuple[bytes, bytes]]  # names in lower case


class RequestBody:
    """The parser and validator of one operation's request body."""

    def __init__(self, operation: Operation, document: Document, validation: Validation) -> None:
        request_body = document.follow(operation.definition.get("requestBody", {}))
        self._required = request_body.get("required", False)
        self._readers: dict[str, Read] = {}
        for media_type, content in request_body.get("content", {}).items():
            reader = _reader(media_type, content["schema"], document, validation)
            names = [media_type, *content.get("x-also-as", ())]
            self._readers |= dict.fromkeys(map(str.lower, names), reader)
        self.is_expected = bool(self._readers)
        """Whether the operation accepts a body. If not, a body that a client sends is not read."""
        kept = (content.get("x-kept-bytes") for content in request_body.get("content", {}).values())
        self.kept_bytes: int | None = next(kept, None)
        """How many bytes of a body are kept, whatever its media type; None to keep the whole body."""

    def read(self, encoded: bytes, headers: Headers) -> Json:
        """Parse and validate a received body. None if an optional body is absent. Raises Problem."""
        if encoded:
            return self._reader_for(headers)(encoded)
        if self._required:
            raise Problem("body_required")
        return None

    def _reader_for(self, headers: Headers) -> Read:
        # A body with two content types would be ambiguous.
        content_types: list[bytes] = []
        for name, value in headers:
            if name == b"content-type":
                content_types.append(value)
            elif name == b"content-encoding":
                _demand_identity(value)
        media_type, charset = _parse_content_type(content_types[0]) if len(content_types) == 1 else ("", "")
        if media_type not in self._readers or charset not in ("", "utf-8", "utf8"):
            accepted = {"Accept": ", ".join(self._readers)}
            raise _unsupported(next(iter(self._readers)), content_types, accepted)
        return self._readers[media_type]


def _demand_identity(content_encoding: bytes) -> None:
    codings = {coding.strip().lower() for coding in content_encoding.split(b",")}
    if foreign := codings - {b"", b"identity"}:
        raise _unsupported("no Content-Encoding", sorted(foreign), {"Accept-Encoding": "identity"})


def _unsupported(expected: str, given: list[bytes], headers: Mapping[str, str]) -> Problem:
    """Return a Problem that names the expected and the received media type (RFC 9110 §15.5.16)."""
    shown = " and ".join(filter(None, (shorten_header(value.decode("latin-1")) for value in given[:2])))
    return Problem(
        "unsupported_media_type", headers=headers, expected=expected, given=shown or "no Content-Type"
    )


def shorten_header(header: str) -> str:
    """Return a header's first 60 characters in printable ASCII, for an error message."""
    return "".join(
        character if character.isascii() and character.isprintable() else "?" for character in header[:60]
    )


@lru_cache(maxsize=64)  # nearly all requests send the same value
def _parse_content_type(value: bytes) -> tuple[str, str]:
    media_type, *parameters = value.decode("latin-1").lower().split(";")
    charsets = [
        text.strip().strip('"')
        for name, _, text in (parameter.partition("=") for parameter in parameters)
        if name.strip() == "charset"
    ]
    return media_type.strip(), ",".join(charsets)


def _reader(media_type: str, schema: Node, document: Document, validation: Validation) -> Read:
    if media_type == FORM:
        return _form_reader(schema, document, validation)
    return _json_reader(schema, document, validation)


def _json_reader(schema: Node, document: Document, validation: Validation) -> Read:
    """Return a function that parses and validates JSON bodies.

    It drops the read-only fields that the schema lists in `x-ignored`, as AIP-203 suggests. In this list,
    `a.b` means the member b of the object a.
    """
    check = validation.request_check(schema, ROOT_FIELD)
    with_integers = integers_of(schema, document)
    ignored = frozenset(document.follow(schema).get("x-ignored", ()))

    def read(encoded: bytes) -> Json:
        try:
            value = parse_json(encoded)
        except ValueError:
            raise Problem("malformed_json") from None
        except UnfitJsonError as unfit:
            raise validation.sentences.invalid_field(unfit.path or ROOT_FIELD, unfit.keyword) from None
        if ignored and isinstance(value, dict):
            value = _without(value, ignored)
        check(value)
        return with_integers(value)

    return read


def _without(fields: Mapping[str, Json], paths: Collection[str]) -> dict[str, Json]:
    kept = {name: value for name, value in fields.items() if name not in paths}
    for outer, _, inner in (path.partition(".") for path in paths):
        if inner and isinstance(kept.get(outer), dict):
            kept[outer] = _without(kept[outer], {inner})
    return kept


def _form_reader(schema: Node, document: Document, validation: Validation) -> Read:
    check = validation.request_check(schema, ROOT_FIELD)
    known = document.follow(schema).get("properties", {}).keys()

    def read(encoded: bytes) -> dict[str, str]:
        try:
            pairs = parse_pairs(encoded, MAX_FORM_FIELDS)
        except ValueError:
            raise Problem("malformed_form") from None
        fields = _fields_once(pairs, known, validation.sentences)
        check(fields)
        return fields

    return read


def _fields_once(
    pairs: list[tuple[str, str]], known: Collection[str], sentences: Sentences
) -> dict[str, str]:
    """Return the nonempty fields. Raises Problem if a known field is repeated (RFC 6749 §3.2)."""
    fields: dict[str, str] = {}
    for name, text in pairs:
        if name in fields and name in known:
            raise sentences.invalid_field(name, "repeated")
        fields[name] = text
    # "Parameters sent without a value MUST be treated as if they were omitted" (RFC 6749 §3.2).
    return {name: text for name, text in fields.items() if text}
