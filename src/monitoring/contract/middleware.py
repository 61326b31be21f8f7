"""Around the application: the request's id, headers for whatever answer follows, and the limit on bodies.

Neither layer awaits what it calls, so neither adds a coroutine.
"""

import logging
import re
from collections.abc import Awaitable
from contextvars import ContextVar
from random import getrandbits  # an id is no secret, and this takes no system call

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monitoring.contract.problems import Problem
from monitoring.contract.replies import notes_of, raw_headers_of

SANE_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}")

_NOSNIFF = b"x-content-type-options", b"nosniff"

_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)


class AnswerHeaders:
    """`X-Request-Id`, `nosniff` and every header added on the way are on every answer, problems included.

    It also notes the status, for `Witness` and the layers that handle exceptions.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve with the caller's request id, if it is sane, else with one of our own."""
        request_id = _sane_request_id(scope) or f"{getrandbits(128):032x}"
        notes = notes_of(scope)
        notes.request_id = request_id
        _request_id.set(request_id)

        def send_with_headers(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                notes.status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    *raw_headers_of(notes.headers),
                    (b"x-request-id", request_id.encode()),
                    _NOSNIFF,
                ]
            return send(message)

        return self._app(scope, receive, send_with_headers)


class RequestIdFilter(logging.Filter):
    """Gives every log record the `request_id` it was written under; None outside of requests."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        record.request_id = _request_id.get()
        return True


class BodyLimit:
    """Refuses bodies above a limit, by the length they declare and by the bytes received: declarations lie.

    A body is judged when it is read. A caller who may not send one is refused for that first, and a body that
    nobody reads does no harm.
    """

    def __init__(self, app: ASGIApp, *, max_body_bytes: int) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve. Reading a body beyond the limit raises `body_too_large`, and nothing of it is kept."""
        received_bytes = 0

        async def receive_within_limit() -> Message:
            nonlocal received_bytes
            if not received_bytes and _declared_bytes(scope) > self._max_body_bytes:
                raise Problem("body_too_large")
            message = await receive()
            received_bytes += len(message.get("body", b""))
            if received_bytes > self._max_body_bytes:
                raise Problem("body_too_large")
            return message

        return self._app(scope, receive_within_limit, send)


def _declared_bytes(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0


def _sane_request_id(scope: Scope) -> str | None:
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            return value.decode() if SANE_REQUEST_ID.fullmatch(value) else None
    return None
