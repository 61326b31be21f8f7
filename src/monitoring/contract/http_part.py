"""A layer of the application around what serves HTTP."""

from collections.abc import Awaitable

from starlette.types import ASGIApp, Receive, Scope, Send


class HttpPart:
    """Hands requests to `serve`, and what is no request to the application inside."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Choose. No coroutine of its own: every request comes through here several times."""
        serve = self.serve if scope["type"] == "http" else self._app
        return serve(scope, receive, send)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        raise NotImplementedError
