"""Opens connections to addresses that were judged. It knows no names, proxies or earlier connections."""

from __future__ import annotations

import asyncio
import errno
import ssl
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from monitoring.outbound.certificates import EXPIRED, expiry_of, explain
from monitoring.outbound.failures import ExchangeFailed, FailureCode, broken_off
from monitoring.outbound.stopwatch import Phase
from monitoring.outbound.tls_channel import TlsChannel
from monitoring.outbound.tls_sessions import KeptSession, Place, TlsSessions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from monitoring.outbound.addresses import Address
    from monitoring.outbound.stopwatch import Stopwatch
    from monitoring.outbound.tls_sessions import Resumption

# The owner of a name chooses its addresses. One check must not become a scan of a thousand of them.
MAX_ADDRESSES_TRIED = 4
MAX_SECOND_LOOK_SECONDS = 2.0

# When this machine has run out of these, it says nothing about the other side.
_OURS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


Reader = TypeVar("Reader", bound=asyncio.Protocol)


class Connection(NamedTuple, Generic[Reader]):
    """An open connection. With TLS, `tls_expires_at` is the notAfter of the server's own certificate.

    Whoever got an answer calls `keep_session`, so that the next connection may resume it.
    """

    transport: asyncio.Transport | TlsChannel
    reader: Reader
    tls_expires_at: datetime | None = None
    keep_session: Callable[[], None] = lambda: None


class Destination(NamedTuple):
    """What to connect to. `tls_host` is the host that the certificate must name, or None without TLS.

    Without `resumption`, or if nothing is verified, the handshake is a full one.
    """

    addresses: Sequence[Address]
    port: int
    tls_host: str | None
    verify_tls: bool
    resumption: Resumption | None = None


class Connector:
    """Opens connections. `ca_file` replaces the system's authorities."""

    def __init__(self, ca_file: str | None = None, sessions: TlsSessions | None = None) -> None:
        self._sessions = sessions or TlsSessions()
        self._verifying = _make_verifying_context(ca_file)
        self._trusting = _make_trusting_context()

    async def open(
        self,
        destination: Destination,
        new_reader: Callable[[], Reader],
        deadline: float,
        stopwatch: Stopwatch,
    ) -> Connection[Reader]:
        """Connect, shake hands, and let a new reader read.

        If there are several addresses, the first few are tried. Each of them except the last gets half of the
        time that is left until `deadline` (on the loop's clock), so that an address that never replies does
        not use up the time of the next. Raises ExchangeFailed, and OSError when this machine has no sockets
        left.
        """
        if destination.tls_host is None:
            transport, reader = await _connect_to_one(destination, new_reader, deadline, stopwatch)
            return Connection(transport, reader)
        connection = await self._open_secured(destination, new_reader, deadline, stopwatch)
        stopwatch.leave()
        return connection

    async def _open_secured(
        self,
        destination: Destination,
        new_reader: Callable[[], Reader],
        deadline: float,
        stopwatch: Stopwatch,
    ) -> Connection[Reader]:
        transport, channel = await _connect_to_one(destination, TlsChannel, deadline, stopwatch)
        stopwatch.enter(Phase.SECURING)
        if not destination.resumption or not destination.verify_tls:
            return await self._shake_hands(transport, channel, destination, new_reader(), deadline)
        place, verified_at = _find_place(destination, transport), self._sessions.now()
        if kept := self._sessions.take(place, destination.resumption.margin):
            reader = new_reader()
            if await self._resume(channel, reader, kept, destination.tls_host, deadline):
                keep = partial(self._keep, place, channel, kept, verified_at)
                return Connection(channel, reader, _expiry_told_by(channel), keep)
            # Saving CPU must not make a server look down, so only a full handshake may fail a call.
            transport, channel = await _connect_to_one(destination, TlsChannel, deadline, stopwatch)
            stopwatch.enter(Phase.SECURING)
            place = _find_place(destination, transport)
        connection = await self._shake_hands(transport, channel, destination, new_reader(), deadline)
        return connection._replace(keep_session=partial(self._keep, place, channel, None, verified_at))

    async def _resume(
        self,
        channel: TlsChannel,
        reader: asyncio.Protocol,
        kept: KeptSession,
        tls_host: str | None,
        deadline: float,
    ) -> bool:
        """Offer a session, and say whether the handshake succeeded, be it resumed or full."""
        seconds = (deadline - asyncio.get_running_loop().time()) / 2
        with suppress(OSError, ExchangeFailed):
            async with asyncio.timeout(seconds):
                await channel.secure(reader, self._verifying, tls_host, kept.session)
                return True
        return False

    def _keep(
        self, place: Place, channel: TlsChannel, offered: KeptSession | None, verified_at: datetime
    ) -> None:
        """Keep the session that was resumed, whose age goes on, or that of a full handshake."""
        if offered and channel.is_resumed:
            self._sessions.keep(place, offered)
        elif read := channel.read_session():
            session, chain = read
            expiries = [expires_at for each in chain if (expires_at := expiry_of(each))]
            if len(expiries) == len(chain) > 0:
                self._sessions.keep(place, KeptSession(session, verified_at, min(expiries)))

    async def _shake_hands(
        self,
        transport: asyncio.Transport,
        channel: TlsChannel,
        destination: Destination,
        reader: Reader,
        deadline: float,
    ) -> Connection[Reader]:
        context = self._verifying if destination.verify_tls else self._trusting
        try:
            await channel.secure(reader, context, destination.tls_host)
        except ssl.SSLError as error:
            expires_at = None
            if getattr(error, "verify_code", None) == EXPIRED:
                peer = transport.get_extra_info("peername")[:2]
                expires_at = await self._look_again(peer, destination.tls_host, deadline)
            message = explain(error, expires_at, datetime.now(UTC))
            raise ExchangeFailed(FailureCode.TLS_INVALID, message, expires_at) from None
        except OSError:
            message = "The connection was closed during the TLS handshake"
            raise ExchangeFailed(FailureCode.TLS_INVALID, message) from None
        return Connection(channel, reader, _expiry_told_by(channel))

    async def _look_again(
        self, peer: tuple[str, int], tls_host: str | None, deadline: float
    ) -> datetime | None:
        """Connect again without verifying, to learn when a certificate expired: OpenSSL does not say."""
        loop = asyncio.get_running_loop()
        seconds = min(MAX_SECOND_LOOK_SECONDS, (deadline - loop.time()) / 2)
        with suppress(OSError, ExchangeFailed):
            async with asyncio.timeout(seconds):
                _, channel = await loop.create_connection(TlsChannel, *peer)
                await channel.secure(asyncio.Protocol(), self._trusting, tls_host)
                channel.abort()
                return _expiry_told_by(channel)
        return None


@cache  # reading the system's authorities takes 20 ms, and a process opens several dialers
def _make_verifying_context(ca_file: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=ca_file)
    # Since 3.13, Python asks more of authorities than browsers do.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.set_alpn_protocols(["http/1.1"])
    return context


@cache
def _make_trusting_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    return context


def choose(addresses: Sequence[Address]) -> list[Address]:
    """Return the few to try, IPv4 and IPv6 in turn, since one of them may not work (RFC 8305 §4)."""
    if len(addresses) == 1:
        return list(addresses)
    preferred = [address for address in addresses if address.version == addresses[0].version]
    others = [address for address in addresses if address.version != addresses[0].version]
    in_turn = [address for pair in zip_longest(preferred, others) for address in pair if address]
    return in_turn[:MAX_ADDRESSES_TRIED]


def _connect_to_one(
    destination: Destination, new_reader: Callable[[], Reader], deadline: float, stopwatch: Stopwatch
) -> Awaitable[tuple[asyncio.Transport, Reader]]:
    addresses = choose(destination.addresses)
    if len(addresses) == 1:
        return _connect(addresses[0], destination.port, new_reader, stopwatch)
    return _try_in_turn(addresses, destination.port, new_reader, deadline, stopwatch)


async def _try_in_turn(
    addresses: Sequence[Address],
    port: int,
    new_reader: Callable[[], Reader],
    deadline: float,
    stopwatch: Stopwatch,
) -> tuple[asyncio.Transport, Reader]:
    loop = asyncio.get_running_loop()
    *others, last = addresses
    for address in others:
        with suppress(ExchangeFailed, TimeoutError):
            async with asyncio.timeout((deadline - loop.time()) / 2):
                return await _connect(address, port, new_reader, stopwatch)
    return await _connect(last, port, new_reader, stopwatch)


async def _connect(
    address: Address, port: int, new_reader: Callable[[], Reader], stopwatch: Stopwatch
) -> tuple[asyncio.Transport, Reader]:
    stopwatch.enter(Phase.CONNECTING)
    try:
        connected = await asyncio.get_running_loop().create_connection(new_reader, str(address), port)
    except ConnectionRefusedError:
        raise ExchangeFailed(FailureCode.CONNECTION_REFUSED, "The connection was refused") from None
    except OSError as error:
        if error.errno in _OURS:
            raise
        raise broken_off("The host cannot be reached") from None
    stopwatch.leave()
    return connected


def _find_place(destination: Destination, transport: asyncio.Transport) -> Place:
    """Return where a session holds, on a connection for which resuming is permitted."""
    resumption, tls_host = destination.resumption, destination.tls_host
    assert resumption  # noqa: S101
    assert tls_host is not None  # noqa: S101
    return Place(resumption.owner, transport.get_extra_info("peername")[0], destination.port, tls_host)


def _expiry_told_by(channel: TlsChannel) -> datetime | None:
    return expiry_of(channel.peer_certificate) if channel.peer_certificate else None
