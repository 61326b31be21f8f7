"""The outermost layer if traces are sent. It records a span for every request."""

from http import HTTPStatus

from starlette.types import ASGIApp, Receive, Scope, Send

from monitoring.contract.document import METHODS, Document
from monitoring.tracing import Span, span
from monitoring.web.connexion_bridge import operation_id_of
from monitoring.web.replies import notes_of
from monitoring.web.telemetry import path_without_secrets

TRACE_CONTEXT = (b"traceparent", b"tracestate")


class TracedRequests:
    """Continues a request's trace (W3C Trace Context), or begins a new one.

    Attributes follow OpenTelemetry's semantic conventions for HTTP servers. They contain no queries, bodies,
    callers, or headers other than our `X-Request-Id`.
    """

    def __init__(self, app: ASGIApp, document: Document) -> None:
        self._app = app
        self._routes = {name: operation.path for name, operation in document.operations.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request within a span."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = scope["method"] if scope["method"].lower() in METHODS else "_OTHER"
        attributes = {
            "http.request.method": method,
            "url.scheme": scope["scheme"],
            "url.path": path_without_secrets(scope),
            "network.protocol.version": scope["http_version"],
        }
        with span(method, "server", attributes, parent=_read_trace_context(scope)) as recorded:
            try:
                await self._app(scope, receive, send)
            finally:
                self._note_reply(scope, method, recorded)

    def _note_reply(self, scope: Scope, method: str, recorded: Span) -> None:
        if route := self._routes.get(operation_id_of(scope)) or getattr(scope.get("route"), "path", None):
            recorded.rename(f"{method} {route}")
            recorded.note("http.route", route)
        notes = notes_of(scope)
        if notes.request_id:
            recorded.note("monitoring.request_id", notes.request_id)
        if notes.status:
            recorded.note("http.response.status_code", notes.status)
            if notes.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                recorded.note("error.type", str(notes.status))


def _read_trace_context(scope: Scope) -> dict[str, str]:
    return {
        name.decode(): value.decode("latin-1") for name, value in scope["headers"] if name in TRACE_CONTEXT
    }
