"""Parses the head of a response (RFC 9112 §4, §5) as leniently as Chromium. Does no I/O.

Leniency does not allow response smuggling here, because each connection carries only one response.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from monitoring.outbound.failures import invalid

MAX_LINES = 5_000

NOT_HTTP = "The answer is not HTTP"

# Chromium finds the status line after up to four bytes left over from an earlier body.
_MAX_BYTES_BEFORE = 4
_PROTOCOL = rb"(?s:.{0,4}?)(?:HTTP|ICY)"  # radio streams send ICY
_BEGINNING = re.compile(_PROTOCOL, re.IGNORECASE)
_MAX_BEGINNING_BYTES = 8
_STATUS_LINE = re.compile(_PROTOCOL + rb"(?:/\d+(?:\.\d+)?)?[ \t]+(\d{3})(?!\d)", re.IGNORECASE)
_MIN_STATUS = 100

_END = re.compile(rb"\n\r?\n")
_HEADER = re.compile(rb"\n([^\n:]+):([^\n]*)")
_FOLD = re.compile(rb"\r?\n[ \t]+")  # RFC 9112 §5.2
_WHITESPACE = b" \t\r"
_LENGTH = re.compile(rb"\d{1,18}")


class Head(NamedTuple):
    """A status and headers, with names in lower case."""

    status_code: int
    headers: dict[bytes, list[bytes]]


def find_end(received: bytes | bytearray, searched_bytes: int) -> int | None:
    """Return the position after the end of the head, or None if the end has not arrived.

    `searched_bytes` is the number of bytes that the previous search covered.
    """
    ended = _END.search(received, max(searched_bytes - 2, _MAX_BYTES_BEFORE))
    return ended.end() if ended else None


def check_beginning(received: bytes | bytearray, *, is_all: bool = False) -> None:
    """Raise ExchangeFailed if `received` does not begin like a head.

    `is_all` means that no more bytes follow. If it is false, fewer than eight bytes never raise an error.
    """
    if (is_all or len(received) >= _MAX_BEGINNING_BYTES) and not _BEGINNING.match(received):
        raise invalid(NOT_HTTP)


def read_head(written: bytes) -> Head:
    """Parse a head. Raises ExchangeFailed if it has no valid status.

    Lines without a colon or a name are ignored. Header names may contain any characters.
    """
    if b"\n " in written or b"\n\t" in written:
        written = _FOLD.sub(b" ", written)
    status = _STATUS_LINE.match(written)
    if not status or int(status[1]) < _MIN_STATUS:
        check_beginning(written, is_all=True)
        raise invalid("The answer has no valid status")
    if written.count(b"\n") > MAX_LINES:
        raise invalid(f"The answer's headers have more than {MAX_LINES:,} lines")
    headers: dict[bytes, list[bytes]] = {}
    for name, value in _HEADER.findall(written, status.end()):
        if name := name.strip(_WHITESPACE).lower():
            headers.setdefault(name, []).append(value.strip(_WHITESPACE))
    return Head(int(status[1]), headers)


def is_chunked(head: Head) -> bool:
    """Return whether the body is chunked. Other transfer codings are ignored."""
    return b"chunked" in _members(head, b"transfer-encoding")


def find_length(head: Head) -> int | None:
    """Return the Content-Length. None if it is missing or not a number (RFC 9110 §8.6).

    Raises ExchangeFailed if the head contains different lengths.
    """
    lengths = {int(each) for each in _members(head, b"content-length") if _LENGTH.fullmatch(each)}
    if len(lengths) > 1:
        raise invalid("The answer has two different lengths")
    return next(iter(lengths), None)


def _members(head: Head, name: bytes) -> list[bytes]:
    values = head.headers.get(name, [])
    return [member.strip(_WHITESPACE).lower() for value in values for member in value.split(b",")]
