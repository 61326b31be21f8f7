"""Validates responses against the published document, from outside the service and with another validator."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openapi_schema_validator import OAS31Validator, oas31_format_checker

from monitoring.contract.document import Node, Operation, load_document
from raw_http import connect, request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from running_service import RunningService

# The published document is at the root. The service uses the copy in its package, which must be identical.
PUBLISHED = Path(__file__).parent.parent / "openapi.yaml"
DOCUMENT = load_document(PUBLISHED)
OPERATIONS = DOCUMENT.operations

# The ids in the document's examples, by the parameters that take them.
EXAMPLE_IDS: dict[str, str] = {
    parameter["name"]: parameter["example"]
    for operation in OPERATIONS.values()
    for parameter in operation.parameters
    if parameter["in"] == "path"
}

JSON = "application/json"
HEADERS_OF_HTTP = {"connection", "content-length", "content-type", "date", "keep-alive"}
REQUEST_ID = "a-request-of-the-contract-tests"


def close_objects(schema: Any) -> Any:
    """Return a schema that forbids unnamed fields wherever it does not say whether they are allowed.

    Published responses allow unknown fields, because later releases may add some. But a field that the
    service sends today must be documented today.
    """
    if isinstance(schema, list):
        return [close_objects(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: close_objects(part) for name, part in schema.items()}
    if schema.get("type") == "object" and isinstance(schema.get("properties"), dict):
        closed.setdefault("additionalProperties", False)
    return closed


STRICT_COMPONENTS = {"schemas": close_objects(DOCUMENT.root["components"]["schemas"])}


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, parsed from its bytes. Header names are in lower case, and each name occurs only once."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, parsed as JSON."""
        return json.loads(self.text)

    @property
    def text(self) -> bytes:
        """The body, decompressed if it was sent compressed."""
        is_compressed = self.headers.get("content-encoding") == "gzip"
        return gzip.decompress(self.body) if is_compressed else self.body


@dataclass(frozen=True, slots=True)
class ErrorExample:
    """An error example in the document: its name, its place and its operation.

    `operation` is None for an error that belongs to no operation.
    """

    name: str
    operation: Operation | None
    status: int
    response: Node
    example: Node


def ask(service: RunningService, method: str, target: str, *headers: str, body: bytes = b"") -> Answer:
    """Send a request on a new connection, and read until the service closes the connection."""
    ours = (f"X-Request-Id: {REQUEST_ID}", "Connection: close")
    with connect(("127.0.0.1", service.port)) as connection:
        connection.sendall(request(method, target, *headers, *ours, body=body))
        with connection.makefile("rb") as stream:
            return _take_apart(stream.read())


def judge(answer: Answer, responses: Node) -> None:
    """Assert that a response matches the documented response for its status, and has nothing undocumented."""
    assert str(answer.status) in responses, f"status {answer.status} is not documented: {answer.body!r}"
    response = DOCUMENT.follow(responses[str(answer.status)])
    _judge_headers(answer, documented_headers(response))
    _judge_body(answer, response)


def judge_value(value: Any, schema: Node) -> None:
    """Assert that a schema of the document allows a value and names each of the value's fields."""
    whole = {"components": STRICT_COMPONENTS, **close_objects(schema)}  # references are resolved here
    OAS31Validator(whole, format_checker=oas31_format_checker).validate(value)


def documented_headers(response: Node) -> dict[str, Node]:
    """Return a response's documented headers by lower-case name."""
    return {name.lower(): DOCUMENT.follow(node) for name, node in response.get("headers", {}).items()}


def error_examples() -> Iterator[ErrorExample]:
    """Yield every error example in the document, once for each place in which it appears."""
    for operation in OPERATIONS.values():
        for status, response in operation.responses.items():
            if int(status) >= 400:
                yield from _examples_of(operation, int(status), response)
    for response in DOCUMENT.root["components"]["responses"].values():
        if "x-status" in response:
            yield from _examples_of(None, response["x-status"], response)


def known_methods(path: str) -> list[str]:
    """Return all methods of a path in the document. A path with GET also has HEAD."""
    written = {operation.method.upper() for operation in OPERATIONS.values() if operation.path == path}
    return sorted(written | ({"HEAD"} if "GET" in written else set()))


def _examples_of(operation: Operation | None, status: int, response: Node) -> Iterator[ErrorExample]:
    for media in response["content"].values():
        for name, example in media["examples"].items():
            yield ErrorExample(name, operation, status, response, DOCUMENT.follow(example))


def _take_apart(received: bytes) -> Answer:
    head, separator, body = received.partition(b"\r\n\r\n")
    assert separator, f"no answer: {received!r}"
    status_line, *lines = head.decode("latin-1").split("\r\n")
    fields = [(name.lower(), value) for name, _, value in (line.partition(": ") for line in lines)]
    headers = dict(fields)
    assert len(headers) == len(fields), f"a header is sent twice: {sorted(name for name, _ in fields)}"
    matched = re.fullmatch(r"HTTP/1\.1 ([1-5][0-9]{2}) [A-Z][A-Za-z -]+", status_line)
    assert matched, status_line
    return Answer(int(matched[1]), headers, body)


def _judge_headers(answer: Answer, documented: dict[str, Node]) -> None:
    sent = answer.headers.keys() - HEADERS_OF_HTTP
    required = {name for name, node in documented.items() if node.get("required")}
    assert sent >= required, f"headers are missing: {required - sent}"
    assert sent <= documented.keys(), f"headers are not documented: {sent - documented.keys()}"
    assert answer.headers["x-request-id"] == REQUEST_ID
    for name in sent:
        text, schema = answer.headers[name], documented[name]["schema"]
        judge_value(int(text) if schema["type"] == "integer" else text, schema)


def _judge_body(answer: Answer, response: Node) -> None:
    content = response.get("content", {})
    if not content:
        assert answer.body == b""
        assert "content-type" not in answer.headers
        return
    media_type = answer.headers["content-type"]
    # JSON is always UTF-8 (RFC 8259 §8.1), so its media type has no parameter. Texts may have a charset.
    media_type = media_type if media_type.startswith(JSON) else media_type.partition(";")[0]
    assert media_type in content, f"media type {media_type} is not documented"
    assert "transfer-encoding" not in answer.headers
    if answer.body:
        assert answer.headers["content-length"] == str(len(answer.body))
    if answer.body and media_type == JSON:
        judge_value(answer.json, content[JSON]["schema"])
