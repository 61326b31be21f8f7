"""Converts exceptions to replies: documented errors in the API, pages in the app."""

import logging
import re
from abc import ABC, abstractmethod
from asyncio import CancelledError
from collections.abc import Callable, Mapping

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import Document, DocumentError
from monitoring.contract.problems import Problem
from monitoring.web.replies import Reply, notes_of, send_reply

log = logging.getLogger(__name__)

NAMES_BY_STATUS = {
    400: "malformed_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "body_too_large",
}

NAMES_RAISED_ANYWHERE = {
    *NAMES_BY_STATUS.values(),
    "invalid_field",
    "internal_error",
    "unsupported_media_type",
}
"""Errors of any operation. Those with a body add `body_required`, `malformed_json` and `malformed_form`."""

_CONTROL_CHARACTER = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")  # RFC 9110 §5.5


class ServerStopped(Exception):  # noqa: N818 - the caller gets a reply
    """The server stopped before the reply was ready."""

    def __init__(self) -> None:
        super().__init__("the server stops")


class ErrorMiddleware(ABC):
    """Replies to every exception from inner layers, and to requests that the server cancels when it stops."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request. An exception after the reply has begun is re-raised, which ends the connection."""
        try:
            await self._app(scope, receive, _HeldHead(send))
        except CancelledError:  # the server is stopping
            if not notes_of(scope).status:
                await self.reply(ServerStopped(), scope, receive, send)
        except Exception as error:
            if notes_of(scope).status:
                raise
            await self.reply(error, scope, receive, send)

    @abstractmethod
    async def reply(self, error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the reply for an exception."""


class ProblemMiddleware(ErrorMiddleware):
    """Replies to every exception with a documented error, never with a traceback.

    `problem_names` maps exceptions other than Problem to names of errors. `note_refusal` logs them.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        document: Document,
        catalogue: Catalogue,
        problem_names: Mapping[type[Exception], str],
        note_refusal: Callable[[Exception], None],
    ) -> None:
        super().__init__(app)
        self._document = document
        self._catalogue = catalogue
        self._problem_names = problem_names
        self._note_refusal = note_refusal
        if missing := self._names_needed() - catalogue.templates.keys():
            raise DocumentError(f"the document names no error {', '.join(sorted(missing))}")

    async def reply(self, error: Exception, scope: Scope, _: Receive, send: Send) -> None:
        """Send the documented error for an exception."""
        await send_reply(self._reply_to(error, scope["path"]), scope, send)

    def _reply_to(self, error: Exception, path: str) -> Reply:
        problem = self._problem_of(error, path)
        if problem is None:
            log.error("unhandled exception", exc_info=error)
            problem = Problem("internal_error")
        try:
            response = self._catalogue.respond(problem.name, problem.headers, problem.values)
        except KeyError as missing:
            log.error("the problem %s has no value for %s", problem.name, missing, exc_info=error)  # noqa: TRY400
            response = self._catalogue.respond("internal_error")
        return Reply(response.body, response.status, response.headers)

    def _problem_of(self, error: Exception, path: str) -> Problem | None:
        if isinstance(error, Problem):
            return error
        if isinstance(error, HTTPException):
            return self._framework_problem(error, path)
        # The client has disconnected, so nobody reads this reply. It only avoids logging an unhandled error.
        if isinstance(error, ClientDisconnect):
            return Problem("malformed_request")
        for kind, name in self._problem_names.items():
            if isinstance(error, kind):
                self._note_refusal(error)
                return Problem(name)
        return None

    def _framework_problem(self, error: HTTPException, path: str) -> Problem | None:
        name = NAMES_BY_STATUS.get(error.status_code)
        if name == "method_not_allowed":
            # Starlette's own Allow header lists only the methods of the first matching route.
            allowed = self._document.allowed_methods(path)
            return Problem(name, headers={"Allow": ", ".join(allowed)})
        return Problem(name) if name else None

    def _names_needed(self) -> set[str]:
        renamed = (
            name
            for operation in self._document.operations.values()
            for name in operation.definition.get("x-problem-names", {}).values()
        )
        return NAMES_RAISED_ANYWHERE | {*renamed, *self._problem_names.values()}


class _HeldHead:
    """Delays a response's head until its body begins, so that earlier failures still get a reply."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._head: Message | None = None

    async def __call__(self, message: Message) -> None:
        """Send a message, or hold the head. Raises ValueError for control characters in headers."""
        if message["type"] == "http.response.start":
            if any(_CONTROL_CHARACTER.search(value) for _, value in message.get("headers", ())):
                raise ValueError("a header has a control character")
            self._head = message
            return
        if self._head:
            head, self._head = self._head, None
            await self._send(head)
        await self._send(message)
