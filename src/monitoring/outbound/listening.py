"""Reads what a server sends in simple protocols, up to a delimiter or a number of bytes."""

from __future__ import annotations

import asyncio


class Listener(asyncio.Protocol):
    """Buffers the data that arrives on a connection until it is read. Only one task may read at a time."""

    def __init__(self) -> None:
        self._heard = bytearray()
        self._is_over = False
        self._news = asyncio.Event()

    @property
    def is_silent(self) -> bool:
        """Whether everything received has been read."""
        return not self._heard

    async def read_until(self, wanted: bytes, max_bytes: int) -> bytes:
        """Read and return the data up to and including the first occurrence of `wanted`.

        Raises asyncio.LimitOverrunError if it is not found within `max_bytes`, and
        asyncio.IncompleteReadError if the connection ends first.
        """
        while (found_at := self._heard.find(wanted, 0, max_bytes)) < 0:
            if len(self._heard) >= max_bytes:
                raise asyncio.LimitOverrunError("not among the first bytes", max_bytes)
            await self._hear_more()
        return self._take(found_at + len(wanted))

    async def read_exactly(self, count: int) -> bytes:
        """Read and return `count` bytes. Raises asyncio.IncompleteReadError if the connection ends first."""
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

    # Called by the transport

    def data_received(self, received: bytes) -> None:
        """Buffer the data."""
        self._heard += received
        self._news.set()

    def connection_lost(self, _: Exception | None) -> None:
        """Wake up a waiting reader."""
        self._is_over = True
        self._news.set()
