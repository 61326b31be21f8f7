"""Requests that the end of the server cuts off get an error of the document, not the server's own."""

from asyncio import CancelledError

from starlette.types import Receive, Scope, Send

from monitoring.contract.http_part import Answering, HttpPart


class ServerStopped(Exception):  # noqa: N818 - to the caller it is an answer
    """The server stopped before the answer was ready."""


class CutOff(HttpPart):
    """Raises `ServerStopped` in a request that is cancelled. An answer that has begun stays incomplete."""

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve."""
        answer = Answering(send)
        try:
            await self._app(scope, receive, answer)
        except CancelledError:
            if not answer.has_begun:
                raise ServerStopped("the server stops") from None
