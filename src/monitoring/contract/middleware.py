"""Around the application: the request's id, and headers for whatever answer follows.

The layer does not await what it calls, so it adds no coroutine.
"""

import logging
import re
from collections.abc import Awaitable
from contextvars import ContextVar
from random import getrandbits  # an id is no secret, and this takes no system call

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monitoring.contract.replies import notes_of, raw_headers_of

SANE_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}")

_NOSNIFF = b"x-content-type-options", b"nosniff"

_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)


class AnswerHeaders:
    """`X-Request-Id`, `nosniff` and every header added on the way are on every answer, problems included.

    It also notes the status, for `Witness` and the layer that handles exceptions.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve with the caller's request id, if it is sane, else with one of our own."""
        request_id = _sane_request_id(scope) or getrandbits(128).to_bytes(16, "big").hex()
        notes = notes_of(scope)
        notes.request_id = request_id
        _request_id.set(request_id)

        def send_with_headers(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                notes.status = message["status"]
                added = raw_headers_of(notes.headers) if notes.headers else ()
                request_id_field = b"x-request-id", request_id.encode()
                message["headers"] = [*message.get("headers", ()), *added, request_id_field, _NOSNIFF]
            return send(message)

        return self._app(scope, receive, send_with_headers)


class RequestIdFilter(logging.Filter):
    """Gives every log record the `request_id` it was written under; None outside of requests."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        record.request_id = _request_id.get()
        return True


def _sane_request_id(scope: Scope) -> str | None:
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            return value.decode() if SANE_REQUEST_ID.fullmatch(value) else None
    return None
