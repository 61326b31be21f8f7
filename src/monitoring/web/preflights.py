"""CORS preflight requests (Fetch §3.2.2), for resources that pages of any origin may read.

The document has no operations for preflight requests. Any other OPTIONS request is passed on, and gets a 405.
"""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from monitoring.contract.document import Document
from monitoring.web.replies import Reply, send_reply

_OPEN = "Access-Control-Allow-Origin"
_SECONDS = 86_400  # how long browsers may cache the reply


class Preflights:
    """Lets browser tools add headers to requests for resources with `Access-Control-Allow-Origin`."""

    def __init__(self, app: ASGIApp, document: Document) -> None:
        self._app = app
        self._document = document
        self._open_paths = {
            operation.path
            for operation in document.operations.values()
            if operation.method == "get" and _OPEN in operation.responses.get("200", {}).get("headers", {})
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reply to a preflight request, or pass any other request on."""
        path = scope["path"]
        if scope["method"] != "OPTIONS" or path not in self._open_paths or not _asks(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        reply = Reply.empty(
            headers={
                _OPEN: "*",
                "Access-Control-Allow-Methods": ", ".join(self._document.allowed_methods(path)),
                "Access-Control-Allow-Headers": "*",
                "Access-Control-Max-Age": str(_SECONDS),
            }
        )
        await send_reply(reply, scope, send)


def _asks(headers: Headers) -> bool:
    return "origin" in headers and "access-control-request-method" in headers
