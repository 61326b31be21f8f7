"""Decompresses bodies (RFC 9110 §8.4) as they arrive. Pure."""

from __future__ import annotations

import zlib

from monitoring.outbound.failures import invalid

MAX_GZIP_MEMBERS = 256  # an honest mebibyte has a few dozen

_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_RAW = -zlib.MAX_WBITS  # some servers send this as "deflate"
_GZIP_MAGIC = b"\x1f\x8b"


class Decompressor:
    """Decodes a Content-Encoding piece by piece, up to `max_bytes`. `is_cut` means that there was more.

    Bytes after a compressed body are ignored, as in browsers, unless they are a further member of a gzip file
    (RFC 1952 §2.2). Raises ExchangeFailed for an encoding that was not asked for.
    """

    def __init__(self, encoding: str, max_bytes: int) -> None:
        match [coding for coding in _codings(encoding) if coding != "identity"]:
            case []:
                self._is_compressed = self._has_members = False
            case ["gzip" | "x-gzip"]:
                self._is_compressed = self._has_members = True
            case ["deflate"]:
                self._is_compressed, self._has_members = True, False
            case _:
                raise invalid("The answer is encoded in a way that was not asked for")
        self.is_cut = False
        self._room = max_bytes
        self._inflating = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._members = 0
        self._after_member = b""  # what may be the beginning of another one
        self._is_over = False

    def read(self, piece: bytes) -> bytes:
        """Return what the piece adds to the body. Raises ExchangeFailed if its compression is broken."""
        decoded = self._inflate(piece) if self._is_compressed else piece
        if len(decoded) > self._room:
            self.is_cut, decoded = True, decoded[: self._room]
        self._room -= len(decoded)
        return decoded

    def end(self) -> None:
        """Finish the body. Raises ExchangeFailed if its compression is incomplete."""
        # A server may also say that an empty body is compressed.
        if self._members and not self._inflating.eof and not self.is_cut:
            raise invalid("The answer's compression is broken")

    def _inflate(self, piece: bytes) -> bytes:
        """Inflate up to one byte more than there is room for, member by member."""
        rest, inflated = self._after_member + piece, b""
        self._after_member = b""
        while rest and not self._is_over and len(inflated) <= self._room:
            if self._members == 0 or self._inflating.eof:
                if self._members and len(rest) < len(_GZIP_MAGIC):
                    self._after_member = rest
                    break
                self._begin_member(rest)
            else:
                try:
                    inflated += self._inflating.decompress(rest, self._room + 1 - len(inflated))
                except zlib.error:
                    raise invalid("The answer's compression is broken") from None
                rest = self._inflating.unused_data
        return inflated

    def _begin_member(self, first: bytes) -> None:
        if self._members and not (self._has_members and first.startswith(_GZIP_MAGIC)):
            self._is_over = True
            return
        if self._members == MAX_GZIP_MEMBERS:
            raise invalid(f"The answer is compressed in more than {MAX_GZIP_MEMBERS} parts")
        is_raw = not self._has_members and (first[0] & 0x0F) != zlib.DEFLATED
        self._inflating = zlib.decompressobj(_RAW if is_raw else _GZIP_OR_ZLIB)
        self._members += 1


def _codings(encoding: str) -> list[str]:
    """Read a list, in which members may be empty (RFC 9110 §5.6.1)."""
    return [coding for written in encoding.split(",") if (coding := written.strip().lower())]
