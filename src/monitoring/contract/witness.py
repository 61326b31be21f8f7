"""Sees every answer of the application: counts it, and writes the access log when that is on.

Malformed HTTP never gets here: `uvicorn_bridge` answers and counts it, and it is not in the access log.
"""

import logging
from time import perf_counter

from starlette.types import ASGIApp, Receive, Scope, Send

from monitoring.contract.connexion_bridge import operation_id_of
from monitoring.contract.replies import notes_of
from monitoring.metrics import NO_OPERATION, record_answer

MAX_PATH_CHARACTERS = 200

access_log = logging.getLogger("monitoring.access")
if not access_log.level:  # off until the settings ask for it, whatever level other loggers have
    access_log.setLevel(logging.CRITICAL)


class Witness:
    """The outermost layer, so that it measures how long the caller waits, unless they wished to.

    `otherwise` is the operation of requests that reached none.
    """

    def __init__(self, app: ASGIApp, otherwise: str = NO_OPERATION) -> None:
        self._app = app
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve; a request that nobody answered is not counted."""
        began = perf_counter()
        try:
            await self._app(scope, receive, send)
        finally:
            notes = notes_of(scope)
            if notes.status:
                seconds = perf_counter() - began - notes.held_seconds
                _note(scope, operation_id_of(scope) or self._otherwise, notes.status, seconds)


def path_without_query(scope: Scope) -> str:
    """Return the beginning of the path as it was sent. Callers put secrets into the query."""
    return str(scope["raw_path"].decode("latin-1")[:MAX_PATH_CHARACTERS])


def _note(scope: Scope, operation: str, status: int, duration_seconds: float) -> None:
    record_answer(operation, status, duration_seconds)
    if access_log.isEnabledFor(logging.INFO):
        fields = {
            "method": scope["method"],
            "path": path_without_query(scope),
            "operation": operation,
            "status": status,
            "duration_ms": round(duration_seconds * 1000, 3),
            "client_address": scope["client"][0] if scope.get("client") else "unknown",
        }
        sentence = "%(method)s %(path)s %(operation)s %(status)d %(duration_ms).1f ms %(client_address)s"
        access_log.info(sentence, fields, extra=fields)
