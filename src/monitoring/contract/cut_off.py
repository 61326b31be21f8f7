"""A request that the stopping server cuts off gets an error of the document, not the server's own."""

from asyncio import CancelledError

from starlette.types import ASGIApp, Receive, Scope, Send

from monitoring.contract.replies import notes_of


class ServerStopped(Exception):  # noqa: N818 - to the caller it is an answer
    """The server stopped before the answer was ready."""


class CutOff:
    """Raises `ServerStopped` in a request that is cancelled. An answer that has begun stays incomplete."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve."""
        try:
            await self._app(scope, receive, send)
        except CancelledError:
            if not notes_of(scope).status:
                raise ServerStopped("the server stops") from None
