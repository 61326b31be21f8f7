"""Decompresses bodies (RFC 9110 §8.4). Pure."""

from __future__ import annotations

import zlib

from monitoring.outbound.failures import ExchangeFailed, FailureCode, invalid

MAX_GZIP_MEMBERS = 256  # an honest mebibyte has a few dozen; each costs a copy of what follows it

_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_RAW = -zlib.MAX_WBITS  # some servers send this as "deflate"
_GZIP_MAGIC = b"\x1f\x8b"


def decode(body: bytes, encoding: str, max_bytes: int) -> bytes:
    """Undo a Content-Encoding, and never write more than one byte above `max_bytes`.

    Bytes after a compressed body are ignored, as in browsers, unless they are a further member of a gzip file
    (RFC 1952 §2.2). Raises ExchangeFailed for a body that is larger, broken, or in an encoding that was not
    asked for.
    """
    match [coding for coding in _codings(encoding) if coding != "identity"]:
        case []:
            decoded = body
        case ["gzip" | "x-gzip"]:
            decoded = _inflate_members(body, max_bytes)
        case ["deflate"]:
            is_raw = body[:1] and (body[0] & 0x0F) != zlib.DEFLATED
            decoded, _ = _inflate(body, _RAW if is_raw else _GZIP_OR_ZLIB, max_bytes)
        case _:
            raise invalid("The answer is encoded in a way that was not asked for")
    if len(decoded) > max_bytes:
        raise too_large(max_bytes)
    return decoded


def too_large(max_bytes: int) -> ExchangeFailed:
    """Return the failure of a body above the cap."""
    return ExchangeFailed(FailureCode.RESPONSE_TOO_LARGE, f"The answer is larger than {max_bytes:,} bytes")


def _codings(encoding: str) -> list[str]:
    """Read a list, in which members may be empty (RFC 9110 §5.6.1)."""
    return [coding for written in encoding.split(",") if (coding := written.strip().lower())]


def _inflate_members(body: bytes, max_bytes: int) -> bytes:
    inflated, rest = _inflate(body, _GZIP_OR_ZLIB, max_bytes)
    members = 1
    while rest.startswith(_GZIP_MAGIC) and len(inflated) <= max_bytes:
        if members == MAX_GZIP_MEMBERS:
            raise invalid(f"The answer is compressed in more than {MAX_GZIP_MEMBERS} parts")
        member, rest = _inflate(rest, _GZIP_OR_ZLIB, max_bytes - len(inflated))
        inflated += member
        members += 1
    return inflated


def _inflate(body: bytes, window_bits: int, max_bytes: int) -> tuple[bytes, bytes]:
    """Return what was compressed, up to one byte above `max_bytes`, and the bytes after it."""
    if not body:
        return body, b""  # a server may send this for an empty body
    inflating = zlib.decompressobj(window_bits)
    try:
        inflated = inflating.decompress(body, max_bytes + 1)
    except zlib.error:
        raise invalid("The answer's compression is broken") from None
    if not inflating.eof and len(inflated) <= max_bytes:
        raise invalid("The answer's compression is broken")
    return inflated, inflating.unused_data
