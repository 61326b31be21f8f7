"""Request ids, common reply headers, request metrics and the access log.

Malformed HTTP never reaches this layer. `uvicorn_bridge` replies to it and counts it, but does not log it.
"""

import logging
import re
from collections.abc import Awaitable
from random import getrandbits  # an id is not secret, and this makes no system call
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monitoring.logs import log_request
from monitoring.metrics import NO_OPERATION, record_reply
from monitoring.web.connexion_bridge import operation_id_of
from monitoring.web.replies import notes_of, raw_headers_of

MAX_PATH_CHARACTERS = 200
SANE_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}")
# The match ignores case, so that a mistyped ping path never shows its token.
PING_TOKEN = re.compile(r"(?<=ping/)[^/]+", re.IGNORECASE)
MASK = "********"
_NOSNIFF = b"x-content-type-options", b"nosniff"

access_log = logging.getLogger("monitoring.access")
if not access_log.level:  # off unless the settings enable it, regardless of other loggers' levels
    access_log.setLevel(logging.CRITICAL)


class RequestTelemetry:
    """An outer layer that measures how long callers wait, except for delays that they requested.

    It adds `X-Request-Id`, `nosniff` and all noted headers to every reply, including problems. Inner layers
    find the reply's status in the notes. `otherwise` is the operation name for requests that reached no
    operation.
    """

    def __init__(self, app: ASGIApp, otherwise: str = NO_OPERATION) -> None:
        self._app = app
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request. A request that gets no reply is not counted."""
        began = perf_counter()
        notes = notes_of(scope)
        notes.request_id = _sane_request_id(scope) or getrandbits(128).to_bytes(16, "big").hex()
        log_request(notes.request_id)

        def send_with_headers(message: Message) -> Awaitable[None]:  # not async, which saves a coroutine
            if message["type"] == "http.response.start":
                notes.status = message["status"]
                added = raw_headers_of(notes.headers) if notes.headers else ()
                request_id_field = b"x-request-id", notes.request_id.encode()
                message["headers"] = [*message.get("headers", ()), *added, request_id_field, _NOSNIFF]
            return send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        finally:
            if notes.status:
                seconds = perf_counter() - began - notes.held_seconds
                _note(scope, operation_id_of(scope) or self._otherwise, notes.status, seconds)


def path_without_secrets(scope: Scope) -> str:
    """Return the beginning of the encoded path, without the query, and with any ping token masked."""
    path = scope["raw_path"].decode("latin-1")
    return PING_TOKEN.sub(MASK, path, 1)[:MAX_PATH_CHARACTERS]


def _sane_request_id(scope: Scope) -> str | None:
    """Return the request id that the caller sent. None if it is missing or malformed."""
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            return value.decode() if SANE_REQUEST_ID.fullmatch(value) else None
    return None


def _note(scope: Scope, operation: str, status: int, duration_seconds: float) -> None:
    record_reply(operation, status, duration_seconds)
    if access_log.isEnabledFor(logging.INFO):
        fields = {
            "method": scope["method"],
            "path": path_without_secrets(scope),
            "operation": operation,
            "status": status,
            "duration_ms": round(duration_seconds * 1000, 3),
            "client_address": scope["client"][0] if scope.get("client") else "unknown",
        }
        sentence = "%(method)s %(path)s %(operation)s %(status)d %(duration_ms).1f ms %(client_address)s"
        access_log.info(sentence, fields, extra=fields)
