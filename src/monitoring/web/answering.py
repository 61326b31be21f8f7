"""What becomes of exceptions: each is answered, in the API and in the app."""

import re
from abc import ABC, abstractmethod
from asyncio import CancelledError

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monitoring.web.replies import notes_of

_CONTROL_CHARACTER = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")  # RFC 9110 §5.5


class ServerStopped(Exception):  # noqa: N818 - to the caller it is an answer
    """The server stopped before the answer was ready."""

    def __init__(self) -> None:
        super().__init__("the server stops")


class ExceptionAnswers(ABC):
    """Answers every exception raised inside, and what the stopping server cuts off."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve. After the answer has begun, an exception is raised again, and the server hangs up."""
        try:
            await self._app(scope, receive, _HeldHead(send))
        except CancelledError:  # by the stopping server
            if not notes_of(scope).status:
                await self.answer(ServerStopped(), scope, receive, send)
        except Exception as error:
            if notes_of(scope).status:
                raise
            await self.answer(error, scope, receive, send)

    @abstractmethod
    async def answer(self, error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request with what the error says."""


class _HeldHead:
    """Sends a head together with the beginning of its body: what breaks before that can still be answered."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._head: Message | None = None

    async def __call__(self, message: Message) -> None:
        """Send, or hold. Raises ValueError for a control character in a header."""
        if message["type"] == "http.response.start":
            if any(_CONTROL_CHARACTER.search(value) for _, value in message.get("headers", ())):
                raise ValueError("a header has a control character")
            self._head = message
            return
        if self._head:
            head, self._head = self._head, None
            await self._send(head)
        await self._send(message)
