"""Answers held against the document: status, required headers, media type and body."""

from monitoring.contract.document import Document, Node, Operation
from monitoring.contract.validation import BrokenPromise, Check, Validation
from monitoring.web.replies import JSON, Reply

# `RequestTelemetry` puts them on every answer.
ALWAYS_SENT = {"X-Content-Type-Options", "X-Request-Id"}


class Responses:
    """What one operation may answer."""

    def __init__(self, operation: Operation, document: Document, validation: Validation) -> None:
        self._responses = {
            int(status): _Response(response, document, validation)
            for status, response in operation.responses.items()
        }

    def check(self, reply: Reply, added_headers: dict[str, str]) -> None:
        """Raise BrokenPromise for a reply the document does not allow."""
        response = self._responses.get(reply.status)
        if response is None:
            raise BrokenPromise(f"status {reply.status} is not documented")
        response.check(reply, added_headers)


class _Response:
    def __init__(self, response: Node, document: Document, validation: Validation) -> None:
        headers = {name: document.follow(header) for name, header in response.get("headers", {}).items()}
        required = {name for name, header in headers.items() if header.get("required")}
        self._required_headers = sorted(required - ALWAYS_SENT)
        self._checks: dict[str, Check | None] = {
            media_type: validation.response_check(content.get("schema", {})) if media_type == JSON else None
            for media_type, content in response.get("content", {}).items()
        } or {"": None}

    def check(self, reply: Reply, added_headers: dict[str, str]) -> None:
        for name in self._required_headers:
            if name not in added_headers and name not in reply.headers:
                raise BrokenPromise(f"header missing: {name}")
        media_type = reply.media_type
        if media_type not in self._checks:
            media_type = media_type.partition(";")[0]
        if media_type not in self._checks:
            raise BrokenPromise(f"media type {media_type!r} is not documented")
        check = self._checks[media_type]
        # Only texts that never change are compressed: they are judged in tests, not again with every answer.
        if check and "Content-Encoding" not in reply.headers:
            check(reply.json_value())
