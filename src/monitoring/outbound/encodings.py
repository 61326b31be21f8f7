"""Decompresses bodies (RFC 9110 §8.4) piece by piece. Does no I/O."""

from __future__ import annotations

import zlib

from monitoring.outbound.failures import invalid

MAX_GZIP_MEMBERS = 256  # a normal body of a mebibyte has a few dozen
MAX_CODINGS = 5  # as in curl
MAX_INNER_RATIO = 8  # output limit of intermediate layers, relative to `max_bytes`

_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_RAW = -zlib.MAX_WBITS  # some servers send this as "deflate"
_GZIP_MAGIC = b"\x1f\x8b"

_GZIP = frozenset({"gzip", "x-gzip"})
# Bodies in these codings cannot be read. They are IANA's content codings, except gzip, deflate, identity and
# the codings for special kinds of files.
_NOT_ASKED_FOR = frozenset({"br", "compress", "dcb", "dcz", "x-compress", "zstd"})


class Decompressor:
    """Decodes a body with a Content-Encoding, up to `max_bytes`. `is_cut` means that the body is longer.

    Many servers send a charset or an unknown coding in the header. Such values are ignored, as in browsers.
    Raises ExchangeFailed for a known coding that was not requested, and for more than `MAX_CODINGS` codings.
    """

    def __init__(self, encoding: str, max_bytes: int) -> None:
        names = _codings(encoding)
        if not _NOT_ASKED_FOR.isdisjoint(names):
            raise invalid("The answer is encoded in a way that was not asked for")
        codings = [name for name in names if name in _GZIP or name == "deflate"]
        if len(codings) > MAX_CODINGS:
            raise invalid(f"The answer is compressed more than {MAX_CODINGS} times")
        # The coding applied last is removed first (RFC 9110 §8.4).
        self._layers = [
            _Layer(max_bytes * (MAX_INNER_RATIO if position else 1) + 1, has_members=name in _GZIP)
            for position, name in reversed(list(enumerate(codings)))
        ]
        self._room = max_bytes
        self.is_cut = False

    def read(self, piece: bytes) -> bytes:
        """Return the decoded piece of the body. Raises ExchangeFailed if its compression is broken."""
        for layer in self._layers:
            piece = layer.inflate(piece)
        self.is_cut = len(piece) > self._room or any(layer.is_full for layer in self._layers)
        piece = piece[: self._room]
        self._room -= len(piece)
        return piece

    def end(self) -> None:
        """Finish the body. Raises ExchangeFailed if its compression is incomplete."""
        if not self.is_cut and not all(layer.is_complete for layer in self._layers):
            raise invalid("The answer's compression is broken")


class _Layer:
    """Decodes one coding, up to `max_bytes` of output.

    Bytes after a compressed body are ignored, as in browsers, unless they are another member of a gzip file
    (RFC 1952 §2.2).
    """

    def __init__(self, max_bytes: int, *, has_members: bool) -> None:
        self._room = max_bytes
        self._has_members = has_members
        self._inflating = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._members = 0
        self._after_member = b""  # these bytes may begin another member
        self._is_over = False

    @property
    def is_full(self) -> bool:
        """Whether the size limit was reached, so there may be more data."""
        return self._room == 0

    @property
    def is_complete(self) -> bool:
        """Whether the compressed data is complete. An empty body counts as complete."""
        return not self._members or self._inflating.eof

    def inflate(self, piece: bytes) -> bytes:
        """Return the decompressed piece, as far as the size limit allows."""
        rest, inflated = self._after_member + piece, []
        self._after_member = b""
        while rest and not self._is_over and self._room:
            if self._members == 0 or self._inflating.eof:
                if self._members and len(rest) < len(_GZIP_MAGIC):
                    self._after_member = rest
                    break
                self._begin_member(rest)
            else:
                try:
                    inflated.append(self._inflating.decompress(rest, self._room))
                except zlib.error:
                    raise invalid("The answer's compression is broken") from None
                self._room -= len(inflated[-1])
                rest = self._inflating.unused_data
        return b"".join(inflated)

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
    """Parse a header's list of codings, ignoring empty elements (RFC 9110 §5.6.1)."""
    return [coding for written in encoding.split(",") if (coding := written.strip().lower())]
