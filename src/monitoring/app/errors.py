"""Renders exceptions as error pages, with the messages of the API document."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from monitoring.app.sentences import DECLINED, Declined, Sentence
from monitoring.app.visits import Visit
from monitoring.backends.errors import BackendUnavailable
from monitoring.backends.outage import note_refusal
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.problems import Problem
from monitoring.web.errors import NAMES_BY_STATUS, ErrorMiddleware, ServerStopped

log = logging.getLogger(__name__)


class ErrorPages(ErrorMiddleware):
    """Responds to every exception with an error page, without a traceback.

    An exception that occurs after the response has begun is raised again, unless a backend failed. If a
    backend fails during a download, the response ends early, and the browser notices that it is incomplete.
    For signed-in users, the error page has the navigation and a link back to the previous page.
    """

    def __init__(self, app: ASGIApp, catalogue: Catalogue) -> None:
        super().__init__(app)
        self._catalogue = catalogue

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request. A backend's failure after the response has begun is only logged."""
        try:
            await super().__call__(scope, receive, send)
        except BackendUnavailable as error:
            note_refusal("request", error)

    async def reply(self, error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the error page for an exception."""
        answer = await self._write(scope["visit"], error)
        await answer(scope, receive, send)

    async def _write(self, visit: Visit, error: Exception) -> Response:
        if isinstance(error, Declined):
            return await self._render(visit, DECLINED[error.name])
        problem = _problem_of(error)
        reply = self._catalogue.respond(problem.name, problem.headers, problem.values)
        title = HTTPStatus(reply.status).phrase.capitalize()
        sentence = Sentence(reply.status, title, reply.body["error"])
        return await self._render(visit, sentence, reply.headers)

    async def _render(
        self, visit: Visit, sentence: Sentence, headers: Mapping[str, str] | None = None
    ) -> Response:
        headers = headers or {}
        if sentence.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            with suppress(BackendUnavailable):
                await visit.recognise()
        response = visit.render_error(sentence, headers.get("Retry-After"))
        response.headers.update(headers)
        return response


def _problem_of(error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, BackendUnavailable | ServerStopped):
        note_refusal("request", error)
        return Problem("service_unavailable")
    if isinstance(error, HTTPException) and error.status_code in NAMES_BY_STATUS:
        return Problem(NAMES_BY_STATUS[error.status_code], headers=error.headers)
    # The client closed the connection, so nobody receives this response. The exception is not a bug.
    if isinstance(error, ClientDisconnect):
        return Problem("malformed_request")
    log.error("unhandled exception", exc_info=error)
    return Problem("internal_error")
