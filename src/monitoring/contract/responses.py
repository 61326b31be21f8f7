"""Validates responses against the document: status, required headers, media type and body."""

from collections.abc import Callable, Collection

from monitoring.contract.document import JSON, Document, Json, Node, Operation
from monitoring.contract.validation import BrokenPromise, Check, Validation

# The headers that `web.telemetry` adds to every response.
ALWAYS_SENT = {"X-Content-Type-Options", "X-Request-Id"}


class Responses:
    """One operation's documented responses."""

    def __init__(self, operation: Operation, document: Document, validation: Validation) -> None:
        self._responses = {
            int(status): _Response(response, document, validation)
            for status, response in operation.responses.items()
        }

    def check(
        self, status: int, header_names: Collection[str], media_type: str, read_body: Callable[[], Json]
    ) -> None:
        """Raise BrokenPromise if the document does not allow a response. Only JSON bodies are read."""
        response = self._responses.get(status)
        if response is None:
            raise BrokenPromise(f"status {status} is not documented")
        response.check(header_names, media_type, read_body)


class _Response:
    def __init__(self, response: Node, document: Document, validation: Validation) -> None:
        headers = {name: document.follow(header) for name, header in response.get("headers", {}).items()}
        required = {name for name, header in headers.items() if header.get("required")}
        self._required_headers = sorted(required - ALWAYS_SENT)
        self._checks: dict[str, Check | None] = {
            media_type: validation.response_check(content.get("schema", {})) if media_type == JSON else None
            for media_type, content in response.get("content", {}).items()
        } or {"": None}

    def check(self, header_names: Collection[str], media_type: str, read_body: Callable[[], Json]) -> None:
        for name in self._required_headers:
            if name not in header_names:
                raise BrokenPromise(f"header missing: {name}")
        if media_type not in self._checks:
            media_type = media_type.partition(";")[0]
        if media_type not in self._checks:
            raise BrokenPromise(f"media type {media_type!r} is not documented")
        check = self._checks[media_type]
        # Only static texts are compressed. Tests validate them, so they are not validated here.
        if check and "Content-Encoding" not in header_names:
            check(read_body())
