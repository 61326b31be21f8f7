"""Requests that the end of the server cuts off get an error of the document, not the server's own."""

from asyncio import CancelledError

from starlette.types import Message, Receive, Scope, Send

from monitoring.contract.http_part import HttpPart


class ServerStopped(Exception):  # noqa: N818 - to the caller it is an answer
    """The server stopped before the answer was ready."""


class CutOff(HttpPart):
    """Raises `ServerStopped` in a request that is cancelled. An answer that has begun stays incomplete."""

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve."""
        has_begun = False

        async def send_noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        except CancelledError:
            if not has_begun:
                raise ServerStopped("the server stops") from None
