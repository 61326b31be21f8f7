"""Receives request bodies up to the size limit."""

from typing import NamedTuple

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope

from monitoring.contract.problems import Problem

EARLY_BODY = "early_body"


async def receive_body(scope: Scope, receive: Receive) -> bytes:
    """Receive a request body, up to the application's limit. All code that reads bodies must call this.

    Raises `Problem("body_too_large")` if the declared length or the received bytes exceed the limit. The
    limit is checked only here, after authentication, so that unauthorised callers get an authentication error
    instead.
    """
    state = scope["state"]
    if EARLY_BODY in state:
        early: bytes = state.pop(EARLY_BODY)
        return early
    max_bytes: int = scope["app"].max_body_bytes
    if _declared_bytes(scope) > max_bytes:
        raise Problem("body_too_large")
    chunks: list[bytes] = []
    received_bytes = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk: bytes = message.get("body", b"")
        received_bytes += len(chunk)
        if received_bytes > max_bytes:
            raise Problem("body_too_large")
        if not message.get("more_body", False):
            return b"".join([*chunks, chunk]) if chunks else chunk
        chunks.append(chunk)


class Beginning(NamedTuple):
    """The first bytes of a body. `is_cut` is whether the body is longer."""

    encoded: bytes
    is_cut: bool


async def receive_beginning(receive: Receive, kept_bytes: int) -> Beginning:
    """Receive a body of any length, and return its first `kept_bytes` bytes. The rest is discarded."""
    kept, is_cut = bytearray(), False
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk: bytes = message.get("body", b"")
        room = kept_bytes - len(kept)
        kept += chunk[:room]
        is_cut = is_cut or len(chunk) > room
        if not message.get("more_body", False):
            return Beginning(bytes(kept), is_cut)


async def receive_early(request: Request) -> bytes:
    """Receive a body during authentication, which may verify its signature. Raises Problem.

    The operation gets the same bytes later from `receive_body`.
    """
    encoded = await receive_body(request.scope, request.receive)
    request.scope["state"][EARLY_BODY] = encoded
    return encoded


def _declared_bytes(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0
