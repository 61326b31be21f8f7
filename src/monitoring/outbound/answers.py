"""Reads one HTTP response from one connection, but only as far as needed."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import NamedTuple

from monitoring.outbound.certificates import explain
from monitoring.outbound.encodings import Decompressor
from monitoring.outbound.exchanges import BodyReader, Headers
from monitoring.outbound.failures import ExchangeFailed, FailureCode, broken_off, invalid
from monitoring.outbound.framing import Framing, choose_framing
from monitoring.outbound.heads import Head, check_beginning, find_end, read_head
from monitoring.outbound.redirects import is_redirect

MAX_BODY_BYTES = 1_048_576
MAX_HEAD_BYTES = 262_144  # as in Chromium
MAX_ANSWER_BYTES = 8 * MAX_BODY_BYTES  # enough for a whole body in one-byte chunks of six bytes each

_SWITCHING_PROTOCOLS = 101
_MIN_FINAL_STATUS = 200
_WITHOUT_BODY = frozenset({_SWITCHING_PROTOCOLS, 204, 304})


class Answer(NamedTuple):
    """A final response, with the decompressed body as far as it was read.

    `is_cut` means that the body is longer.
    """

    status_code: int
    location: str | None
    retry_after: str
    body: bytes
    is_cut: bool
    headers: Headers


class AnswerReader(asyncio.Protocol):
    """Completes the future `answer` with an Answer or with ExchangeFailed, and discards all later data.

    Reading stops after the head, unless the body reader wants the body. The body of a redirect that will be
    followed is never read. One size limit applies to the body, and another to all heads together, including
    those of interim responses. A third limit applies to the complete response, because its framing can be
    many times larger than the body.
    """

    def __init__(
        self,
        *,
        is_head: bool,
        follows_redirects: bool,
        body_reader: BodyReader | None,
        on_first_byte: Callable[[], None],
    ) -> None:
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._is_head = is_head
        self._follows_redirects = follows_redirects
        self._body_reader = body_reader
        self._on_first_byte: Callable[[], None] | None = on_first_byte

        self._unread = bytearray()  # an incomplete head
        self._searched_bytes = 0
        self._interim_bytes = 0
        self._head: Head | None = None
        self._framing: Framing | None = None
        self._decompressor: Decompressor | None = None
        self._body = bytearray()
        self._received_bytes = 0

    def let_go(self) -> None:
        """Release the received data, which would otherwise stay in memory until a garbage collection."""
        self._unread.clear()
        self._body.clear()
        self._body_reader = self._decompressor = None

    # Called by the transport

    def data_received(self, received: bytes) -> None:
        """Read heads up to the final one, and as much of its body as the body reader wants."""
        self._received_bytes += len(received)
        if self._on_first_byte:
            self._on_first_byte()
            self._on_first_byte = None
        if self.answer.done():
            return
        try:
            if not self._head:
                received = self._read_heads(received)
            if received and not self.answer.done():
                self._read_body(received)
        except ExchangeFailed as failed:
            self._fail(failed)

    def connection_lost(self, error: Exception | None) -> None:
        """Finish the response if it may end with the connection. Otherwise, report a failure."""
        if self.answer.done():
            return
        if isinstance(error, ssl.SSLError):  # a TLS 1.3 server may reject us after the handshake
            self._fail(ExchangeFailed(FailureCode.TLS_INVALID, explain(error)))
        elif self._on_first_byte:
            self._fail(broken_off("The connection was closed before an answer came"))
        elif error:
            self._break_off()
        else:
            self._end()

    def _end(self) -> None:
        """Handle a connection that the server closed cleanly."""
        if not self._head and self._unread.endswith(b"\n"):
            self.data_received(b"\n")  # browsers and curl also accept a head without the empty line
        if not self.answer.done():
            if self._framing and self._framing.may_break_off:
                self._end_body()
            else:
                self._break_off()

    def _break_off(self) -> None:
        try:
            if self._unread:
                check_beginning(self._unread, is_all=True)
        except ExchangeFailed as failed:
            self._fail(failed)
        self._fail(broken_off("The connection broke off in the middle of the answer"))

    def _read_heads(self, received: bytes) -> bytes:
        """Read interim heads and the final one. Returns the part of the body that has arrived with them."""
        self._unread += received
        while True:
            end = find_end(self._unread, self._searched_bytes)
            if self._interim_bytes + (end or len(self._unread)) > MAX_HEAD_BYTES:
                raise invalid(f"The answer's headers are larger than {MAX_HEAD_BYTES:,} bytes")
            if end is None:
                check_beginning(self._unread)
                self._searched_bytes = len(self._unread)
                return b""
            head = read_head(bytes(self._unread[:end]))
            del self._unread[:end]
            if head.status_code >= _MIN_FINAL_STATUS or head.status_code == _SWITCHING_PROTOCOLS:
                rest = bytes(self._unread)
                self._unread.clear()
                self._begin(head)
                return rest
            self._searched_bytes = 0
            self._interim_bytes += end

    def _begin(self, head: Head) -> None:
        """Finish after the head, or begin to read the body if the body reader wants it."""
        self._head = head
        framing = choose_framing(head)
        is_followed = self._follows_redirects and is_redirect(head.status_code, self._location())
        has_body = not self._is_head and head.status_code not in _WITHOUT_BODY
        if not has_body or is_followed or not self._is_body_wanted(head):
            self._finish()
            return
        self._framing = framing
        self._decompressor = Decompressor(self._find_header(b"content-encoding"), MAX_BODY_BYTES)
        if framing.is_over:
            self._end_body()

    def _read_body(self, received: bytes) -> None:
        """Decode received bytes and pass them to the body reader, until it has read enough."""
        if not self._body_reader or not self._framing or not self._decompressor:
            return
        if self._received_bytes > MAX_ANSWER_BYTES:
            raise invalid(f"The answer is larger than {MAX_ANSWER_BYTES:,} bytes with its framing")
        decompressed = self._decompressor.read(self._framing.take(received))
        self._body += decompressed
        if not self._body_reader.read(decompressed) or self._decompressor.is_cut:
            self._finish(is_cut=True)
        elif self._framing.is_over:
            self._end_body()

    def _is_body_wanted(self, head: Head) -> bool:
        return self._body_reader is not None and self._body_reader.begin(head.status_code, head.headers)

    def _end_body(self) -> None:
        try:
            if self._decompressor:
                self._decompressor.end()
        except ExchangeFailed as failed:
            self._fail(failed)
        self._finish()

    def _location(self) -> str | None:
        if not self._head or b"location" not in self._head.headers:
            return None
        location = self._head.headers[b"location"][0]
        try:
            return location.decode()
        except UnicodeDecodeError:
            return location.decode("latin-1")

    def _finish(self, *, is_cut: bool = False) -> None:
        if not self.answer.done() and self._head:
            answer = Answer(
                self._head.status_code,
                self._location(),
                self._find_header(b"retry-after"),
                bytes(self._body),
                is_cut,
                self._head.headers,
            )
            self.answer.set_result(answer)

    def _find_header(self, name: bytes) -> str:
        return b", ".join(self._head.headers.get(name, []) if self._head else []).decode("latin-1")

    def _fail(self, failed: ExchangeFailed) -> None:
        if not self.answer.done():
            self.answer.set_exception(failed)
            self.answer.exception()  # avoids a warning if nothing awaits it after a failed handshake
