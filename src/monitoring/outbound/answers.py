"""Reads one HTTP answer from one connection, and no more of it than is needed."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import NamedTuple

import httptools

from monitoring.outbound.certificates import explain
from monitoring.outbound.encodings import Decompressor
from monitoring.outbound.exchanges import BodyReader, Headers
from monitoring.outbound.failures import ExchangeFailed, FailureCode, broken_off, invalid
from monitoring.outbound.redirects import is_redirect

MAX_BODY_BYTES = 1_048_576
MAX_HEAD_BYTES = 65_536
MAX_ANSWER_BYTES = 8 * MAX_BODY_BYTES  # room for a whole body in chunks of one byte, which take six each

_MIN_STATUS = 100
_SWITCHING_PROTOCOLS = 101
_MIN_FINAL_STATUS = 200


class Answer(NamedTuple):
    """A final answer, with the decompressed body as far as it was read. `is_cut` means that there is more."""

    status_code: int
    location: str | None
    retry_after: str
    body: bytes
    is_cut: bool
    headers: Headers


class AnswerReader(asyncio.Protocol):
    """Settles `answer` with an Answer or with ExchangeFailed, and drops everything that comes afterwards.

    Reading stops after the head, unless the body reader wants the body. The body of a redirect that will be
    followed is never read. A body is read up to a cap. Everything else (head, trailers, framing) has a cap of
    its own, which starts again after each piece of body. The answer as a whole has a third cap, since the
    framing can be many times larger than the body.
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

        self._parser = httptools.HttpResponseParser(self)
        # Browsers read such answers too. Nothing can be smuggled this way: a connection carries one answer.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_chunked_length=True,
            lenient_transfer_encoding=True,
            lenient_data_after_close=True,
            lenient_optional_lf_after_cr=True,
            lenient_optional_cr_before_lf=True,
            lenient_optional_crlf_after_chunk=True,
            lenient_spaces_after_chunk_size=True,
        )
        self._status_code: int | None = None
        self._headers: dict[bytes, list[bytes]] = {}
        self._body = bytearray()
        self._decompressor: Decompressor | None = None
        self._bytes_beside_body = 0
        self._received_bytes = 0

    def let_go(self) -> None:
        """Drop what was read. Otherwise reader and parser would live until a garbage collection."""
        self._body.clear()
        self._body_reader = self._decompressor = None
        del self._parser

    # Called by the transport

    def data_received(self, received: bytes) -> None:
        """Parse received bytes, in pieces that never exceed the cap of the head."""
        self._received_bytes += len(received)
        if self._on_first_byte:
            self._on_first_byte()
            self._on_first_byte = None
        position = 0
        while position < len(received) and not self.answer.done():
            if self._bytes_beside_body >= MAX_HEAD_BYTES:
                self._fail(invalid(f"The answer's headers are larger than {MAX_HEAD_BYTES:,} bytes"))
                return
            if self._received_bytes > MAX_ANSWER_BYTES:
                self._fail(invalid(f"The answer is larger than {MAX_ANSWER_BYTES:,} bytes with its framing"))
                return
            piece = received[position : position + MAX_HEAD_BYTES - self._bytes_beside_body]
            position += len(piece)
            self._bytes_beside_body += len(piece)
            self._parse(piece)

    def connection_lost(self, error: Exception | None) -> None:
        """Finish an answer that ends with its connection. Any other answer has failed."""
        if self.answer.done():
            return
        if isinstance(error, ssl.SSLError):  # with TLS 1.3, a server can refuse us only after the handshake
            self._fail(ExchangeFailed(FailureCode.TLS_INVALID, explain(error)))
        elif self._on_first_byte:
            self._fail(broken_off("The connection was closed before an answer came"))
        elif error is None and self._status_code and not self._tells_its_end():
            self._end_body()
        else:
            self._fail(broken_off("The connection broke off in the middle of the answer"))

    # Called by the parser

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header."""
        if not self._status_code:  # later ones are trailers
            self._headers.setdefault(name.lower(), []).append(value)

    def on_headers_complete(self) -> None:
        """Begin the body, if there is one to read."""
        status_code = self._parser.get_status_code()
        if status_code < _MIN_STATUS:
            self._fail(invalid("The answer has no valid status"))
        elif status_code < _MIN_FINAL_STATUS and status_code != _SWITCHING_PROTOCOLS:
            self._headers.clear()  # an interim answer
        else:
            self._status_code = status_code
            is_followed = self._follows_redirects and is_redirect(status_code, self._location())
            if self._is_head or is_followed or not self._is_body_wanted(status_code):
                self._finish()
            else:
                self._begin_body()

    def on_body(self, piece: bytes) -> None:
        """Let the body reader read a piece, unless it has read enough."""
        if self.answer.done() or not self._body_reader or not self._decompressor:
            return
        self._bytes_beside_body = 0
        try:
            decompressed = self._decompressor.read(piece)
        except ExchangeFailed as failed:
            self._fail(failed)
            return
        self._body += decompressed
        if not self._body_reader.read(decompressed) or self._decompressor.is_cut:
            self._finish(is_cut=True)

    def on_message_complete(self) -> None:
        """Finish, unless this was an interim answer."""
        if self._status_code:
            self._end_body()

    def _parse(self, piece: bytes) -> None:
        try:
            self._parser.feed_data(piece)
        except httptools.HttpParserUpgrade:
            self._finish()
        except httptools.HttpParserError:
            self._fail(invalid("The answer is not HTTP"))

    def _is_body_wanted(self, status_code: int) -> bool:
        return self._body_reader is not None and self._body_reader.begin(status_code, self._headers)

    def _begin_body(self) -> None:
        try:
            self._decompressor = Decompressor(self._find_header(b"content-encoding"), MAX_BODY_BYTES)
        except ExchangeFailed as failed:
            self._fail(failed)

    def _end_body(self) -> None:
        try:
            if self._decompressor:
                self._decompressor.end()
        except ExchangeFailed as failed:
            self._fail(failed)
        self._finish()

    def _tells_its_end(self) -> bool:
        return b"content-length" in self._headers or b"transfer-encoding" in self._headers

    def _location(self) -> str | None:
        if b"location" not in self._headers:
            return None
        location = self._headers[b"location"][0]
        try:
            return location.decode()
        except UnicodeDecodeError:
            return location.decode("latin-1")

    def _finish(self, *, is_cut: bool = False) -> None:
        if not self.answer.done() and self._status_code:
            answer = Answer(
                self._status_code,
                self._location(),
                self._find_header(b"retry-after"),
                bytes(self._body),
                is_cut,
                self._headers,
            )
            self.answer.set_result(answer)

    def _find_header(self, name: bytes) -> str:
        return b", ".join(self._headers.get(name, [])).decode("latin-1")

    def _fail(self, failed: ExchangeFailed) -> None:
        if not self.answer.done():
            self.answer.set_exception(failed)
            self.answer.exception()  # marks it as seen: nobody asks for it after a failed handshake
