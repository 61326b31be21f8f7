"""Reads what a server sends in simple protocols, up to a mark or a number of bytes."""

from __future__ import annotations

import asyncio


class Listener(asyncio.Protocol):
    """Keeps what comes on a connection until somebody reads it. One task reads at a time."""

    def __init__(self) -> None:
        self._heard = bytearray()
        self._is_over = False
        self._news = asyncio.Event()

    @property
    def is_silent(self) -> bool:
        """Whether everything that came has been read."""
        return not self._heard

    async def read_until(self, wanted: bytes, max_bytes: int) -> bytes:
        """Read up to the first `wanted`, and return it with what precedes it.

        Raises asyncio.LimitOverrunError if it does not end within `max_bytes`, and
        asyncio.IncompleteReadError if the connection ends first.
        """
        while (found_at := self._heard.find(wanted, 0, max_bytes)) < 0:
            if len(self._heard) >= max_bytes:
                raise asyncio.LimitOverrunError("not among the first bytes", max_bytes)
            await self._hear_more()
        return self._take(found_at + len(wanted))

    async def read_exactly(self, count: int) -> bytes:
        """Read this many bytes. Raises asyncio.IncompleteReadError if the connection ends first."""
        while len(self._heard) < count:
            await self._hear_more()
        return self._take(count)

    async def _hear_more(self) -> None:
        if self._is_over:
            raise asyncio.IncompleteReadError(bytes(self._heard), None)
        self._news.clear()
        await self._news.wait()

    def _take(self, count: int) -> bytes:
        taken = bytes(self._heard[:count])
        del self._heard[:count]
        return taken

    # What the transport calls

    def data_received(self, received: bytes) -> None:
        """Keep what came."""
        self._heard += received
        self._news.set()

    def connection_lost(self, _: Exception | None) -> None:
        """Let nobody wait for more."""
        self._is_over = True
        self._news.set()
