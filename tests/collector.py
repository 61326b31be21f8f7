"""An OpenTelemetry collector on loopback, which gives tests access to the spans that it receives."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class SeenSpan:
    """A span that the collector has received."""

    name: str
    kind: str
    trace_id: str
    span_id: str
    parent_id: str
    attributes: dict[str, Any]
    linked_traces: frozenset[str]
    is_error: bool
    service: str


class Collector:
    """Stores the spans that it receives, or refuses them while `is_refusing`.

    Returns 200 for all other requests.
    """

    def __init__(self) -> None:
        self.port = 0
        self.is_refusing = False
        self.refused_count = 0
        self.bodies: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def spans(self) -> list[SeenSpan]:
        return [span for body in list(self.bodies) for span in _read(body)]

    def named(self, name: str, attributes: Mapping[str, Any] | None = None) -> list[SeenSpan]:
        """Return the spans with this name and these attributes."""
        wanted = (attributes or {}).items()
        return [span for span in self.spans if span.name == name and wanted <= span.attributes.items()]

    def trace(self, trace_id: str) -> list[SeenSpan]:
        return [span for span in self.spans if span.trace_id == trace_id]

    def take(self, path: str, body: bytes) -> int:
        """Handle a request, and return the status of the response."""
        if path == "/v1/traces" and self.is_refusing:
            self.refused_count += 1
            return 503
        if path == "/v1/traces":
            self.bodies.append(body)
        return 200


@contextmanager
def running_collector() -> Iterator[Collector]:
    """Run a collector until the block ends."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self._answer(collector.take(self.path, body))

        def do_GET(self) -> None:
            self._answer(200)

        def log_message(self, *_: object) -> None:
            pass

        def _answer(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _read(body: bytes) -> Iterator[SeenSpan]:
    request = ExportTraceServiceRequest.FromString(body)
    for of_resource in request.resource_spans:
        service = _read_attributes(of_resource.resource)["service.name"]
        for of_scope in of_resource.scope_spans:
            for span in of_scope.spans:
                yield SeenSpan(
                    name=span.name,
                    kind=Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
                    trace_id=span.trace_id.hex(),
                    span_id=span.span_id.hex(),
                    parent_id=span.parent_span_id.hex(),
                    attributes=_read_attributes(span),
                    linked_traces=frozenset(link.trace_id.hex() for link in span.links),
                    is_error=span.status.code == Status.STATUS_CODE_ERROR,
                    service=service,
                )


def _read_attributes(owner: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in owner.attributes}
