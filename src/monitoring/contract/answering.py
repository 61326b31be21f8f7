"""What becomes of exceptions: each is answered, in the API and in the app."""

from abc import ABC, abstractmethod
from asyncio import CancelledError

from starlette.types import ASGIApp, Receive, Scope, Send

from monitoring.contract.replies import notes_of


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
            await self._app(scope, receive, send)
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
