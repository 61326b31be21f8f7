"""A layer of the application around what serves HTTP."""

from collections.abc import Awaitable

from starlette.types import ASGIApp, Message, Receive, Scope, Send


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


class Answering:
    """A `send` that knows whether an answer has begun: then it is too late for another one."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        """Send."""
        self.has_begun = True
        await self._send(message)
