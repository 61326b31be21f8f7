"""The id of a request: the caller's or one of our own, on its answer and on every log record."""

import logging
import re
from contextvars import ContextVar
from random import getrandbits  # an id is no secret, and this takes no system call

from starlette.types import Scope

SANE_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}")

_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)


class RequestIdFilter(logging.Filter):
    """Gives every log record the `request_id` it was written under; None outside of requests."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        record.request_id = _request_id.get()
        return True


def choose_request_id(scope: Scope) -> str:
    """Return the caller's request id, if it is sane, else one of our own. Log records have it from now on."""
    request_id = _sane_request_id(scope) or getrandbits(128).to_bytes(16, "big").hex()
    _request_id.set(request_id)
    return request_id


def _sane_request_id(scope: Scope) -> str | None:
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            return value.decode() if SANE_REQUEST_ID.fullmatch(value) else None
    return None
