"""Connections to addresses that were judged: nothing in here knows names, proxies or earlier connections."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from typing import TYPE_CHECKING

from monitoring.outbound.certificates import EXPIRED, expiry_of, explain
from monitoring.outbound.exchanges import FailureCode
from monitoring.outbound.failures import ExchangeFailed, broken_off
from monitoring.outbound.stopwatch import Phase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monitoring.outbound.addresses import Address
    from monitoring.outbound.stopwatch import Stopwatch

# Who answers for a name chooses its addresses: one check must not become a scan of a thousand of them.
MAX_ADDRESSES_TRIED = 4
MAX_SECOND_LOOK_SECONDS = 2.0

# What this machine is out of says nothing about the other side.
_OURS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


@dataclass(frozen=True, slots=True)
class Connection:
    """An open connection; with TLS, `tls_expires_at` is the notAfter of the server's own certificate."""

    transport: asyncio.Transport
    tls_expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Who is connected to. `tls_host` is whom the certificate must name, None without TLS."""

    addresses: Sequence[Address]
    port: int
    tls_host: str | None
    verify_tls: bool


class Connector:
    """Opens connections, and resumes no session. `ca_file` replaces the system's authorities."""

    def __init__(self, ca_file: str | None = None) -> None:
        self._verifying = ssl.create_default_context(cafile=ca_file)
        # Python 3.13 asks more of authorities than browsers do.
        self._verifying.verify_flags &= ~ssl.VERIFY_X509_STRICT
        self._trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._trusting.check_hostname = False
        self._trusting.verify_mode = ssl.CERT_NONE
        for context in (self._verifying, self._trusting):
            context.set_alpn_protocols(["http/1.1"])

    async def open(
        self, destination: Destination, reader: asyncio.Protocol, deadline: float, stopwatch: Stopwatch
    ) -> Connection:
        """Connect, shake hands, and let `reader` read.

        Of several addresses the first few are tried, and each but the last of these gets half of the time
        until `deadline` (of the loop's clock): one that swallows everything does not hide the next. Raises
        ExchangeFailed, and OSError when this machine has no sockets left.
        """
        loop = asyncio.get_running_loop()
        *others, last = choose(destination.addresses)
        for address in others:
            with suppress(ExchangeFailed, TimeoutError):
                async with asyncio.timeout((deadline - loop.time()) / 2):
                    connected = await _connect(address, destination.port, stopwatch)
                break
        else:
            connected = await _connect(last, destination.port, stopwatch)
        stopwatch.leave()
        if destination.tls_host is None:
            try:
                return Connection(await _hand_over(connected, reader))
            except OSError:
                raise broken_off("The connection was closed before an answer came") from None
        stopwatch.enter(Phase.SECURING)
        connection = await self._shake_hands(connected, destination, reader, deadline)
        stopwatch.leave()
        return connection

    async def _shake_hands(
        self, connected: socket.socket, destination: Destination, reader: asyncio.Protocol, deadline: float
    ) -> Connection:
        context = self._verifying if destination.verify_tls else self._trusting
        try:
            peer = connected.getpeername()[:2]
            transport = await _hand_over(connected, reader, context, destination.tls_host)
        except ssl.SSLError as error:
            expires_at = None
            if getattr(error, "verify_code", None) == EXPIRED:
                expires_at = await self._look_again(peer, destination.tls_host, deadline)
            message = explain(error, expires_at, datetime.now(UTC))
            raise ExchangeFailed(FailureCode.TLS_INVALID, message, expires_at) from None
        except OSError:
            message = "The connection was closed during the TLS handshake"
            raise ExchangeFailed(FailureCode.TLS_INVALID, message) from None
        return Connection(transport, _expiry_told_by(transport))

    async def _look_again(
        self, peer: tuple[str, int], tls_host: str | None, deadline: float
    ) -> datetime | None:
        """Connect again without verifying, for the day a certificate expired: OpenSSL hides refused ones."""
        loop = asyncio.get_running_loop()
        seconds = min(MAX_SECOND_LOOK_SECONDS, (deadline - loop.time()) / 2)
        with suppress(OSError):
            async with asyncio.timeout(seconds):
                connected = await _connect_to(peer)
                transport = await _hand_over(connected, asyncio.Protocol(), self._trusting, tls_host)
                transport.abort()
                return _expiry_told_by(transport)
        return None


def choose(addresses: Sequence[Address]) -> list[Address]:
    """Return the few to try, the families in turn: one that does not work hides no other (RFC 8305 §4)."""
    preferred = [address for address in addresses if address.version == addresses[0].version]
    others = [address for address in addresses if address.version != addresses[0].version]
    in_turn = [address for pair in zip_longest(preferred, others) for address in pair if address]
    return in_turn[:MAX_ADDRESSES_TRIED]


async def _connect(address: Address, port: int, stopwatch: Stopwatch) -> socket.socket:
    stopwatch.enter(Phase.CONNECTING)
    try:
        return await _connect_to((str(address), port))
    except ConnectionRefusedError:
        raise ExchangeFailed(FailureCode.CONNECTION_REFUSED, "The connection was refused") from None
    except OSError as error:
        if error.errno in _OURS:
            raise
        raise broken_off("The host cannot be reached") from None


async def _connect_to(peer: tuple[str, int]) -> socket.socket:
    connected = socket.socket(socket.AF_INET6 if ":" in peer[0] else socket.AF_INET, socket.SOCK_STREAM)
    try:
        connected.setblocking(False)  # noqa: FBT003
        await asyncio.get_running_loop().sock_connect(connected, peer)
    except BaseException:
        connected.close()
        raise
    return connected


async def _hand_over(
    connected: socket.socket,
    reader: asyncio.Protocol,
    context: ssl.SSLContext | None = None,
    tls_host: str | None = None,
) -> asyncio.Transport:
    """Give a socket to a transport, which owns it from then on; with a context, once hands are shaken."""
    loop = asyncio.get_running_loop()
    try:
        transport, _ = await loop.create_connection(
            lambda: reader, sock=connected, ssl=context, server_hostname=tls_host
        )
    except BaseException:
        connected.close()
        raise
    return transport


def _expiry_told_by(transport: asyncio.Transport) -> datetime | None:
    certificate = transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
    return expiry_of(certificate) if certificate else None
