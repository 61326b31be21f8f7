"""What a worker sends notifications through."""

from __future__ import annotations

from contextlib import asynccontextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

from monitoring.outbound.client import open_configured_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from monitoring.outbound.exchanges import Exchange, OutboundRequest
    from monitoring.settings import Settings


class Sender(Protocol):
    """Sends requests to strangers' servers, judges their addresses, and never raises because of them."""

    async def send(self, request: OutboundRequest) -> Exchange:
        """Send a request and return what came of it. Raises OSError if this machine cannot send at all."""


_current: ContextVar[Sender | None] = ContextVar("current_sender", default=None)


@asynccontextmanager
async def open_sender(settings: Settings, sender: Sender | None = None) -> AsyncIterator[None]:
    """Let tasks that start inside send through this sender, or through an HTTP client of their own."""
    async with nullcontext(sender) if sender else open_configured_client(settings) as current:
        token = _current.set(current)
        try:
            yield
        finally:
            _current.reset(token)


def current_sender() -> Sender | None:
    """Return the sender of this task, or None outside `open_sender`."""
    return _current.get()
