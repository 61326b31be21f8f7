"""TLS on a connection: performs the handshake, then passes decrypted data to a reader.

The event loop's own TLS is designed for long-lived connections. For a single response, it takes 5 % more CPU
time.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from typing import cast

from monitoring.outbound.certificates import NO_TLS, read_chain
from monitoring.outbound.failures import ExchangeFailed, FailureCode

MAX_RECORD_BYTES = 16_384  # RFC 8446 §5.1


class TlsChannel(asyncio.Protocol):
    """A connection that is opened without encryption and then secured with TLS."""

    _transport: asyncio.Transport
    _reader: asyncio.Protocol
    _tls: ssl.SSLObject
    _handshake: asyncio.Future[None] | None = None
    _failure: ssl.SSLError | None = None
    _unsent = b""

    # The result of `read_chain`. It is read right after the handshake, because OpenSSL has no chain during a
    # renegotiation.
    chain: Sequence[bytes] = ()

    def __init__(self) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()

    @property
    def has_heard(self) -> bool:
        """Whether data arrived before the handshake. A TLS server does not send data first."""
        return self._incoming.pending > 0

    async def secure(
        self,
        reader: asyncio.Protocol,
        context: ssl.SSLContext,
        tls_host: str | None,
    ) -> None:
        """Perform the handshake. From then on, pass received data and the loss of the connection to `reader`.

        Raises ExchangeFailed or OSError (including ssl.SSLError), after closing the connection.
        """
        if self.has_heard:
            self.abort()
            raise ExchangeFailed(FailureCode.TLS_INVALID, NO_TLS)
        if self._transport.is_closing():
            raise ConnectionResetError
        self._reader = reader
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=tls_host)
        self._handshake = asyncio.get_running_loop().create_future()
        try:
            self._go_on(self._handshake)
            await self._handshake
        except BaseException:
            self.abort()
            self._handshake = self._failure = None  # avoids a reference cycle, as in `_fail`
            raise

    def write(self, plain: bytes) -> None:
        """Encrypt and send `plain`, together with the end of the handshake if that was not sent yet.

        Does nothing on a closed connection. A TLS error is reported to the reader later, as the loss of its
        connection. Before TLS 1.3, a server may require a renegotiation before it accepts the data.
        """
        self._unsent = plain
        self._write_unsent()

    def abort(self) -> None:
        """Close the connection immediately."""
        self._transport.abort()

    # Called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over the connection."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, received: bytes) -> None:
        """Continue the handshake, or decrypt."""
        self._incoming.write(received)
        if self._handshake:
            self._go_on(self._handshake)
            if self._unsent:
                self._write_unsent()

    def connection_lost(self, error: Exception | None) -> None:
        """Fail the handshake, or notify the reader."""
        if not self._handshake:
            return
        error = self._failure or error
        if self._handshake.done():
            self._reader.connection_lost(error)
        else:
            self._handshake.set_exception(error or ConnectionResetError())

    def _go_on(self, handshake: asyncio.Future[None]) -> None:
        try:
            if not handshake.done():
                self._tls.do_handshake()
                self.chain = read_chain(self._tls)
                handshake.set_result(None)
                if not self._incoming.pending:
                    return  # the rest of the handshake is sent with the first write
            self._read()
        except ssl.SSLWantReadError:
            self._send()
        except ssl.SSLError as failure:
            self._fail(failure)

    def _write_unsent(self) -> None:
        if self._transport.is_closing():
            return
        try:
            self._tls.write(self._unsent)
            self._unsent = b""
        except ssl.SSLWantReadError:
            pass  # retried when more data arrives
        except ssl.SSLError as failure:
            self._fail(failure)
            return
        self._send()

    def _fail(self, failure: ssl.SSLError) -> None:
        # The traceback would form a reference cycle. Without it, OpenSSL's objects are freed immediately.
        self._failure = failure.with_traceback(None)
        self.abort()

    def _read(self) -> None:
        while self._incoming.pending:
            plain = self._tls.read(MAX_RECORD_BYTES)
            if not plain:  # the server has finished sending
                self.abort()
                return
            self._reader.data_received(plain)
        self._send()

    def _send(self) -> None:
        if self._outgoing.pending:
            self._transport.write(self._outgoing.read())
