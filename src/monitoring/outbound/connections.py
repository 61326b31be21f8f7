"""Opens connections to permitted addresses. It resolves no names, and reuses no connections."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from itertools import zip_longest
from typing import Generic, NamedTuple, TypeVar

from monitoring.outbound.addresses import Address
from monitoring.outbound.certificates import (
    EXPIRED,
    Expiry,
    explain,
    find_first_expiry,
    make_browsing_context,
    make_trusting_context,
)
from monitoring.outbound.failures import ExchangeFailed, FailureCode, broken_off, invalid, is_ours
from monitoring.outbound.icmp_echoes import ping
from monitoring.outbound.listening import Listener
from monitoring.outbound.starttls import AskForTls
from monitoring.outbound.stopwatch import Phase, Stopwatch
from monitoring.outbound.targets import Endpoint
from monitoring.outbound.tls_channel import TlsChannel
from monitoring.outbound.tls_settings import AS_USUAL, TlsSettings, show_certificate

# The owner of a host name chooses its addresses, and must not be able to make one check connect to a thousand
# of them.
MAX_ADDRESSES_TRIED = 4
MAX_SECOND_LOOK_SECONDS = 2.0

# The number of cached TLS contexts. A monitor with its own certificates needs its own context. A context that
# trusts the system's authorities takes a megabyte.
_MAX_CONTEXTS = 64

Reader = TypeVar("Reader", bound=asyncio.Protocol)
Result = TypeVar("Result")


class Connection(NamedTuple, Generic[Reader]):
    """An open connection.

    With TLS, `tls_expiry` is the earliest expiry in the verified chain, including the authority's
    certificate. Without verification, it is the expiry of the server's own certificate. `chain` is the result
    of `read_chain`.
    """

    transport: asyncio.Transport | TlsChannel
    reader: Reader
    tls_expiry: Expiry | None = None
    chain: Sequence[bytes] = ()


class Destination(NamedTuple):
    """What to connect to. `tls_host` is the host that the certificate must cover, or None without TLS.

    `addresses` are the addresses of `host`. `ask_for_tls` runs before the TLS handshake.
    """

    host: str
    addresses: Sequence[Address]
    port: int
    tls_host: str | None
    verify_tls: bool
    tls: TlsSettings = AS_USUAL
    ask_for_tls: AskForTls | None = None


class Connector:
    """Opens connections. TLS sessions are never resumed. `ca_file` replaces the system's authorities."""

    def __init__(self, ca_file: str | None = None) -> None:
        self._ca_file = ca_file
        _make_context(AS_USUAL, ca_file, verifies=True)  # so that an unreadable file raises an error here

    async def open(
        self,
        destination: Destination,
        new_reader: Callable[[], Reader],
        deadline: float,
        stopwatch: Stopwatch,
    ) -> Connection[Reader]:
        """Connect, perform any TLS handshake, and attach a new reader.

        If there are several addresses, the first few are tried. Each except the last gets half of the time
        left until `deadline` (on the loop's clock), so that an unresponsive address does not use up the next
        one's time. Raises ExchangeFailed, and OSError when this machine has no sockets left.
        """
        if destination.tls_host is None:
            transport, reader = await _connect_to_one(destination, new_reader, deadline, stopwatch)
            return Connection(transport, reader)
        if destination.ask_for_tls:
            transport, server = await _connect_to_one(destination, Listener, deadline, stopwatch)
            stopwatch.enter(Phase.WAITING)
            channel = await _ask(transport, server, destination.ask_for_tls)
        else:
            transport, channel = await _connect_to_one(destination, TlsChannel, deadline, stopwatch)
        stopwatch.enter(Phase.SECURING)
        connection = await self._shake_hands(transport, channel, destination, new_reader(), deadline)
        stopwatch.leave()
        return connection

    async def ping(self, _: Endpoint, addresses: Sequence[Address], deadline: float) -> float:
        """Ping the addresses in turn until one responds, and return the round-trip time in milliseconds.

        Raises ExchangeFailed, PermissionError if the kernel does not permit pings, and OSError when this
        machine has no sockets left.
        """
        return await try_in_turn(addresses, ping, deadline)

    async def _shake_hands(
        self,
        transport: asyncio.Transport,
        channel: TlsChannel,
        destination: Destination,
        reader: Reader,
        deadline: float,
    ) -> Connection[Reader]:
        context = _make_context(destination.tls, self._ca_file, verifies=destination.verify_tls)
        try:
            await channel.secure(reader, context, destination.tls_host)
        except ssl.SSLError as error:
            expiry = None
            if getattr(error, "verify_code", None) == EXPIRED:
                peer = transport.get_extra_info("peername")[:2]
                expiry = await _look_again(peer, destination, deadline)
            message = explain(error, expiry)
            raise ExchangeFailed(FailureCode.TLS_INVALID, message, expiry.at if expiry else None) from None
        except OSError:
            message = "The connection was closed during the TLS handshake"
            raise ExchangeFailed(FailureCode.TLS_INVALID, message) from None
        chain = channel.chain
        expiry = find_first_expiry(chain if destination.verify_tls else chain[:1])
        return Connection(channel, reader, expiry, chain)


async def _look_again(peer: tuple[str, int], destination: Destination, deadline: float) -> Expiry | None:
    """Reconnect without verification to find the expired certificate, which OpenSSL does not report.

    Returns None if the server sends no expired certificate. In that case, the expired certificate is that of
    a trusted authority.
    """
    loop = asyncio.get_running_loop()
    seconds = min(MAX_SECOND_LOOK_SECONDS, (deadline - loop.time()) / 2)
    with suppress(OSError, ExchangeFailed):
        async with asyncio.timeout(seconds):
            if destination.ask_for_tls:
                transport, server = await loop.create_connection(Listener, *peer)
                channel = await _ask(transport, server, destination.ask_for_tls)
            else:
                _, channel = await loop.create_connection(TlsChannel, *peer)
            await channel.secure(
                asyncio.Protocol(), _make_context(AS_USUAL, None, verifies=False), destination.tls_host
            )
            channel.abort()
            expiry = find_first_expiry(channel.chain)
            return expiry if expiry and expiry.at <= datetime.now(UTC) else None
    return None


async def _ask(transport: asyncio.Transport, server: Listener, ask_for_tls: AskForTls) -> TlsChannel:
    """Request TLS in the server's protocol, and return a channel for the connection, before its handshake."""
    try:
        await ask_for_tls(transport, server)
    except BaseException:
        transport.abort()
        raise
    if not server.is_silent:  # the data would be mistaken for TLS data (CVE-2011-0411)
        transport.abort()
        raise invalid("The server did not wait for the TLS handshake")
    channel = TlsChannel()
    transport.set_protocol(channel)
    channel.connection_made(transport)
    return channel


@lru_cache(_MAX_CONTEXTS)  # reading the system's authorities takes 20 ms
def _make_context(settings: TlsSettings, ca_file: str | None, *, verifies: bool) -> ssl.SSLContext:
    if verifies:
        context = make_browsing_context(ca_file, settings.certificate_authority)
    else:
        context = make_trusting_context()
    if settings.protocols:
        context.set_alpn_protocols(settings.protocols)
    if settings.client_certificate:
        show_certificate(context, settings.client_certificate)
    return context


def choose(addresses: Sequence[Address]) -> list[Address]:
    """Return the addresses to try, alternating IPv4 and IPv6 because one may not work (RFC 8305 §4)."""
    if len(addresses) == 1:
        return list(addresses)
    preferred = [address for address in addresses if address.version == addresses[0].version]
    others = [address for address in addresses if address.version != addresses[0].version]
    in_turn = [address for pair in zip_longest(preferred, others) for address in pair if address]
    return in_turn[:MAX_ADDRESSES_TRIED]


async def try_in_turn(
    addresses: Sequence[Address], attempt: Callable[[Address], Awaitable[Result]], deadline: float
) -> Result:
    """Try some of the addresses in turn, and return the result of the first successful attempt.

    Each attempt except the last gets half of the time left until `deadline`.
    """
    loop = asyncio.get_running_loop()
    *others, last = choose(addresses)
    for address in others:
        with suppress(ExchangeFailed, TimeoutError):
            async with asyncio.timeout((deadline - loop.time()) / 2):
                return await attempt(address)
    return await attempt(last)


def _connect_to_one(
    destination: Destination, new_reader: Callable[[], Reader], deadline: float, stopwatch: Stopwatch
) -> Awaitable[tuple[asyncio.Transport, Reader]]:
    return try_in_turn(
        destination.addresses,
        lambda address: _connect(address, destination.port, new_reader, stopwatch),
        deadline,
    )


async def _connect(
    address: Address, port: int, new_reader: Callable[[], Reader], stopwatch: Stopwatch
) -> tuple[asyncio.Transport, Reader]:
    stopwatch.enter(Phase.CONNECTING)
    try:
        connected = await asyncio.get_running_loop().create_connection(new_reader, str(address), port)
    except ConnectionRefusedError:
        raise ExchangeFailed(FailureCode.CONNECTION_REFUSED, "The connection was refused") from None
    except OSError as error:
        if is_ours(error):
            raise
        raise broken_off("The host cannot be reached") from None
    stopwatch.leave()
    return connected
