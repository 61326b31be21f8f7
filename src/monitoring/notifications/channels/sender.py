"""The HTTP client with which workers send notifications."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from typing import Protocol

from monitoring.outbound.exchanges import BodyReader, Exchange, OutboundRequest
from monitoring.settings import Settings


class Sender(Protocol):
    """An HTTP client that connects only to permitted IP addresses.

    If a receiver fails, the client returns a result instead of raising an exception.
    """

    async def send(self, request: OutboundRequest, body_reader: BodyReader | None = None) -> Exchange:
        """Send a request and return the result. Raises OSError if this machine cannot send anything."""


_current: ContextVar[Sender | None] = ContextVar("current_sender", default=None)


@asynccontextmanager
async def open_sender(settings: Settings, sender: Sender | None = None) -> AsyncIterator[None]:
    """Set the current sender inside the context. If `sender` is None, a new HTTP client is used."""
    async with AsyncExitStack() as stack:
        token = _current.set(sender or _ClientOpenedLate(settings, stack))
        try:
            yield
        finally:
            _current.reset(token)


def current_sender() -> Sender | None:
    """Return the current sender, or None outside `open_sender`."""
    return _current.get()


class _ClientOpenedLate:
    """An HTTP client that opens at its first request and stays open until `stack` is closed.

    Loading the client and its certificate authorities takes 70 ms and 4 MiB, and many workers never send
    anything.
    """

    def __init__(self, settings: Settings, stack: AsyncExitStack) -> None:
        self._settings = settings
        self._stack = stack
        self._client: Sender | None = None
        self._opening = asyncio.Lock()

    async def send(self, request: OutboundRequest, body_reader: BodyReader | None = None) -> Exchange:
        """Send a request, opening the client first if necessary. Raises OSError as `Sender.send` does."""
        from monitoring.outbound.client import open_configured_client  # noqa: PLC0415 - see above

        async with self._opening:
            if self._client is None:
                opened = open_configured_client(self._settings)
                self._client = await self._stack.enter_async_context(opened)
        return await self._client.send(request, body_reader)
