"""A test client that has all credentials and sends arbitrary bytes.

It reads errors by their names in the document.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import chosen_backends
from monitoring.articles.models import Article
from monitoring.contract.document import JSON
from monitoring.contract.validation import Validation
from monitoring.monitors.models import Monitor
from raw_http import exchange, request
from running_service import WEBHOOK_SECRET

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cast import Player
    from monitoring.contract.document import Node
    from raw_http import Answer
    from running_service import RunningService

LONGEST_REFUSAL_BYTES = 400
HEADERS_OF_HTTP = {"connection", "content-length", "content-type", "date", "keep-alive"}

# Errors of requests that are refused before an operation is reached: by the server, the router and the body
# limit.
BEFORE_OPERATIONS = {400: "BadRequest", 404: "NotFound", 405: "MethodNotAllowed"}


class Insider:
    """Sends arbitrary bytes to any operation, with Alice's token and the publisher's secret.

    Its requests name a monitor of Alice's, which they may change, and an article that does not exist.
    """

    def __init__(self, service: RunningService, alice: Player) -> None:
        monitor = alice.post("/api/monitors", json={"url": "https://shop.example.com/"}).json()
        self.alice = alice
        self.address = ("127.0.0.1", service.port)
        self._document = service.app.contract.document
        self._templates = service.app.contract.catalogue.templates
        self._validation = Validation(self._document)
        self._path_values = {"monitor_id": monitor["id"], "article_id": str(uuid4())}
        self._credentials = {
            "bearerAuth": f"Authorization: {alice.headers['Authorization']}",
            "webhookSecret": f"X-Webhook-Secret: {WEBHOOK_SECRET}",
        }

    def write(
        self, operation_id: str, *headers: str, body: bytes = b"", query: str = "", **path_values: str
    ) -> bytes:
        """Return a request with valid credentials, and additional headers."""
        operation = self._document.operations[operation_id]
        credentials = [
            self._credentials[name] for each in operation.definition["security"][:1] for name in each
        ]
        target = operation.path.format_map(self._path_values | path_values) + query
        return request(operation.method.upper(), target, *credentials, *headers, body=body)

    def content_type(self, operation_id: str) -> str:
        """Return the Content-Type header with the first media type that the operation accepts."""
        media_type = next(iter(self._document.operations[operation_id].definition["requestBody"]["content"]))
        return f"Content-Type: {media_type}"

    def post(self, operation_id: str, body: bytes, *headers: str) -> Answer:
        """Send a body, and return the response. `headers` replace the operation's Content-Type."""
        headers = headers or (self.content_type(operation_id),)
        return exchange(self.address, self.write(operation_id, *headers, body=body))

    def refusal(self, answer: Answer, operation_id: str | None = None) -> str:
        """Return the name of the error in a response, after comparing the response with the document.

        Without an operation, the error must be one that belongs to no operation. If the sentence begins with
        a field, the field follows the name, as in `invalid_field: url`.
        """
        response = self._response(answer.status, operation_id)
        content = response["content"][JSON]
        assert answer.headers["content-type"] == JSON
        headers = {
            name.lower(): self._document.follow(header) for name, header in response["headers"].items()
        }
        assert {name for name, header in headers.items() if header.get("required")} <= answer.headers.keys()
        assert answer.headers.keys() <= headers.keys() | HEADERS_OF_HTTP
        assert len(answer.body) <= LONGEST_REFUSAL_BYTES
        self._validation.response_check(content["schema"])(answer.json)
        body: Mapping[str, str] = answer.json
        return max(filter(None, (self._match(name, body) for name in content["examples"])))[1]

    def _response(self, status: int, operation_id: str | None) -> Node:
        if operation_id:
            return self._document.operations[operation_id].responses[str(status)]
        response: Node = self._document.root["components"]["responses"][BEFORE_OPERATIONS[status]]
        return response

    def _match(self, name: str, body: Mapping[str, str]) -> tuple[int, str] | None:
        """Return how closely the body matches the error, and the name to report."""
        template = self._templates[name]
        if template.sentence is None:
            return (len(str(body)), name) if body == template.body else None
        wording = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(template.sentence))
        matched = re.fullmatch(wording, [*body.values()][-1])
        if not matched:
            return None
        field = matched.groupdict().get("field")
        return len(re.sub(r"\{\w+\}", "", template.sentence)), f"{name}: {field}" if field else name


def look_at_what_is_stored(service: RunningService) -> list[Any]:
    """Return the stored values that every accepted write changes and no background task changes."""

    async def read_rows() -> list[Any]:
        monitors = Monitor.all().order_by("id").values_list("id", "updated_at")
        articles = Article.all().order_by("id").values_list("id", "revision")
        return [await monitors, await articles]

    blog = chosen_backends.read_blog(service.settings.data_dir)
    return [*service.run(read_rows()), sorted(path for path in blog if path.endswith("/en.json"))]
