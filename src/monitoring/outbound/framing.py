"""Extracts bodies from their framing (RFC 9112 §6, §7), piece by piece. Does no I/O."""

from __future__ import annotations

import re
from typing import Protocol

from monitoring.outbound.failures import invalid
from monitoring.outbound.heads import NOT_HTTP, Head, find_length, is_chunked

MAX_CHUNK_LINE_BYTES = 16_384

# The line break after a chunk, which some servers omit, and the next chunk's size line
_SIZE = re.compile(rb"(?:\r?\n)?[ \t]*([0-9a-fA-F]{1,16})[ \t]*(?:;[^\n]*)?\r?\n")


class Framing(Protocol):
    """Determines where a body ends. `is_over` is whether the body has ended.

    `may_break_off` is whether the end of the connection is a regular end of the body.
    """

    is_over: bool
    may_break_off: bool

    def take(self, received: bytes) -> bytes:
        """Return the part of the received bytes that belongs to the body. Raises ExchangeFailed."""


def choose_framing(head: Head) -> Framing:
    """Return the framing of the body that follows a head. Raises ExchangeFailed."""
    return _Chunks() if is_chunked(head) else _Whole(find_length(head))


class _Whole:
    """A body of a known length, or one that ends with its connection."""

    def __init__(self, length: int | None) -> None:
        self.may_break_off = length is None
        self.is_over = length == 0
        self._left = length

    def take(self, received: bytes) -> bytes:
        if self._left is None:
            return received
        taken = received[: self._left]
        self._left -= len(taken)
        self.is_over = not self._left
        return taken


class _Chunks:
    """A chunked body. Lines may end with LF alone. Trailers after the body are ignored."""

    may_break_off = False

    def __init__(self) -> None:
        self.is_over = False
        self._left = 0  # bytes that remain of the current chunk
        self._line = b""  # an incomplete size line

    def take(self, received: bytes) -> bytes:
        unread, position, pieces = self._line + received, 0, []
        while position < len(unread) and not self.is_over:
            if self._left:
                piece = unread[position : position + self._left]
                pieces.append(piece)
                position += len(piece)
                self._left -= len(piece)
            elif size := _SIZE.match(unread, position):
                position = size.end()
                self._left = int(size[1], 16)
                self.is_over = not self._left
            else:
                break
        self._line = unread[position:]
        if not self.is_over and (b"\n" in self._line[2:] or len(self._line) > MAX_CHUNK_LINE_BYTES):
            raise invalid(NOT_HTTP)
        return b"".join(pieces)
