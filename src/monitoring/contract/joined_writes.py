"""Writes what comes in pieces at once: uvloop makes a system call of each write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio import Transport


class JoinedWrites:
    """Stands for a transport, and keeps what is written until `flush` or `close`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._pieces: list[bytes] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever else a transport has
        return getattr(self._transport, name)

    def write(self, piece: bytes) -> None:
        """Keep a piece."""
        self._pieces.append(piece)

    def flush(self) -> None:
        """Write what was kept."""
        if self._pieces:
            self._transport.write(b"".join(self._pieces))
            self._pieces.clear()

    def close(self) -> None:
        """Write what was kept, and end the connection."""
        self.flush()
        self._transport.close()
