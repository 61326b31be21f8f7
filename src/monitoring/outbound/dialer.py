"""The only way to connect to an untrusted host.

A host name is resolved once, all its addresses are checked, and connections are opened only to these
addresses. HTTP and all other protocols use connections from here.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from ipaddress import ip_address
from typing import Protocol, TypeVar, cast

from monitoring.outbound.addresses import Address, Network, is_permitted, read_networks
from monitoring.outbound.connections import Connection, Connector, Destination, Reader
from monitoring.outbound.failures import ExchangeFailed, FailureCode, blocked, too_late
from monitoring.outbound.resolving import Resolver
from monitoring.outbound.starttls import AskForTls
from monitoring.outbound.stopwatch import Phase, Stopwatch
from monitoring.outbound.targets import Endpoint
from monitoring.outbound.tls_settings import AS_USUAL, TlsSettings
from monitoring.settings import Settings

MAX_CONNECTIONS = 4096

_TYPES_OF_ADDRESSES = {"A", "AAAA"}

Result = TypeVar("Result")


class Names(Protocol):
    """Resolves host names and looks up their records."""

    async def resolve(self, host: str) -> list[Address]:
        """Return a host's addresses, the preferred ones first. Raises what `Dialer.call` raises."""

    async def find_records(self, host: str, record_type: str, server: Endpoint | None) -> list[bytes]:
        """Return a name's records from `server`, or from the operator's name servers if `server` is None.

        Raises what `resolve` raises.
        """


class Hosts(Protocol):
    """Connects to hosts whose addresses were checked."""

    async def open(
        self,
        destination: Destination,
        new_reader: Callable[[], Reader],
        deadline: float,
        stopwatch: Stopwatch,
    ) -> Connection[Reader]:
        """Connect, perform any TLS handshake, and attach a new reader. Raises what `Dialer.call` raises."""

    async def ping(self, endpoint: Endpoint, addresses: Sequence[Address], deadline: float) -> float:
        """Ping a host, and return the round-trip time in milliseconds. Raises what `Call.ping` raises."""


@asynccontextmanager
async def open_dialer(
    *,
    allowed_networks: tuple[str, ...] = (),
    dns_servers: tuple[str, ...] = (),
    ca_file: str | None = None,
    may_ping: bool = True,
) -> AsyncIterator[Dialer]:
    """Open a dialer for the running loop. When the block ends, calls in progress are cancelled.

    Addresses in `allowed_networks` (CIDR) are permitted even if they are not public. Cloud metadata addresses
    are never permitted. `ca_file` replaces the system's certificate authorities. `may_ping` is whether the
    operator permits pings. The kernel must permit them, too.
    """
    async with Resolver(dns_servers) as resolver:
        dialer = Dialer(resolver, Connector(ca_file), read_networks(allowed_networks), may_ping=may_ping)
        try:
            yield dialer
        finally:
            await dialer.close()


def open_configured_dialer(settings: Settings) -> AbstractAsyncContextManager[Dialer]:
    """Open a dialer with the configured networks, name servers and certificate authorities."""
    return open_dialer(
        allowed_networks=settings.allowed_networks,
        dns_servers=settings.dns_servers,
        ca_file=str(settings.ca_file) if settings.ca_file else None,
        may_ping=settings.ping_monitors,
    )


class Dialer:
    """Makes calls to untrusted hosts. The number of concurrent calls depends on the limit on open files."""

    def __init__(
        self,
        resolver: Names,
        connector: Hosts,
        allowed_networks: tuple[Network, ...] = (),
        *,
        may_ping: bool = True,
    ) -> None:
        self._resolver = resolver
        self._connector = connector
        self._allowed_networks = allowed_networks
        self._may_ping = may_ping
        self._max_connections = _affordable_connections()
        self._spare_connections = asyncio.Semaphore(self._max_connections)
        # The tasks with a call in progress. `close` assigns a future to each task, which is completed when
        # the call ends.
        self._calling: dict[asyncio.Task[object], asyncio.Future[None] | None] = {}

    @property
    def max_connections(self) -> int:
        """The maximum number of concurrent calls. Further calls wait."""
        return self._max_connections

    async def close(self) -> None:
        """Cancel every task with a call in progress, and wait until the calls have ended."""
        ends = {task: asyncio.get_running_loop().create_future() for task in self._calling}
        self._calling.update(ends)
        for task in ends:
            task.cancel()
        if ends:
            await asyncio.wait(ends.values())

    async def call(self, talk: Callable[[Call], Awaitable[Result]], timeout_seconds: float) -> Result:
        """Run `talk`, which connects to a host and speaks a protocol, with a timeout, and return its result.

        If too many calls are in progress, the call waits first. Waiting does not count towards the timeout.
        Raises ExchangeFailed for any failure of the network or the host, including timeouts. Raises OSError
        when this machine has no sockets left, because that is not a failure of the host.
        """
        task = cast("asyncio.Task[object]", asyncio.current_task())
        self._calling[task] = None
        try:
            async with self._spare_connections:
                call = Call(
                    self._resolver,
                    self._connector,
                    self._allowed_networks,
                    timeout_seconds,
                    may_ping=self._may_ping,
                )
                try:
                    async with asyncio.timeout_at(call.deadline):
                        return await talk(call)
                except TimeoutError:
                    failed = too_late(timeout_seconds, call.stopwatch.phase)
                    failed.timings = call.stopwatch.timings()
                    raise failed from None
                except ExchangeFailed as failed:
                    # For a blocked address, timings are not reported. They would reveal what listens there.
                    if failed.failure.code != FailureCode.BLOCKED_ADDRESS:
                        failed.timings = call.stopwatch.timings()
                    raise
        finally:
            if end := self._calling.pop(task):
                end.set_result(None)


class Call:
    """Opens the connections of one call: the first one, and a new one after each redirect.

    `deadline` is a time of the event loop's clock.
    """

    def __init__(
        self,
        resolver: Names,
        connector: Hosts,
        allowed_networks: tuple[Network, ...],
        timeout_seconds: float,
        *,
        may_ping: bool,
    ) -> None:
        self._resolver = resolver
        self._connector = connector
        self._allowed_networks = allowed_networks
        self._may_ping = may_ping
        self.stopwatch = Stopwatch()
        self.deadline = asyncio.get_running_loop().time() + timeout_seconds

    async def connect(  # noqa: PLR0913 - most are about TLS
        self,
        endpoint: Endpoint,
        new_reader: Callable[[], Reader],
        *,
        tls_host: str | None = None,
        verify_tls: bool = True,
        tls: TlsSettings = AS_USUAL,
        ask_for_tls: AskForTls | None = None,
    ) -> Connection[Reader]:
        """Resolve the endpoint's host, check its addresses, and connect. The caller closes the connection.

        With `tls_host`, the connection uses TLS, and the certificate must be for that host. `ask_for_tls`
        runs before the TLS handshake. Raises what `Dialer.call` raises.
        """
        addresses = await self.find_addresses(endpoint)
        destination = Destination(
            endpoint.host, addresses, endpoint.port, tls_host, verify_tls, tls, ask_for_tls
        )
        return await self._connector.open(destination, new_reader, self.deadline, self.stopwatch)

    async def find_addresses(self, endpoint: Endpoint) -> Sequence[Address]:
        """Resolve the endpoint's host, check its addresses, and return them.

        Raises what `Dialer.call` raises.
        """
        addresses = [endpoint.address] if endpoint.address else await self._resolve(endpoint.host)
        self.judge(addresses)
        return addresses

    async def ping(self, endpoint: Endpoint, ip_version: int | None = None) -> float:
        """Ping the endpoint's host after checking its addresses. Returns the round trip in milliseconds.

        With `ip_version`, only addresses of this version are pinged. Raises what `Dialer.call` raises, and
        PermissionError if pings are not permitted.
        """
        addresses = await self.find_addresses(endpoint)
        if ip_version:
            addresses = [each for each in addresses if each.version == ip_version]
            if not addresses:
                raise ExchangeFailed(FailureCode.DNS_FAILURE, f"The host has no address of IPv{ip_version}")
        if not self._may_ping:
            raise PermissionError
        self.stopwatch.enter(Phase.WAITING)
        return await self._connector.ping(endpoint, addresses, self.deadline)

    async def find_records(self, host: str, record_type: str, server: Endpoint | None) -> list[bytes]:
        """Return a name's records from `server`, or from the operator's name servers if `server` is None.

        The address of `server` is checked. The operator's name servers may know internal names, so the
        addresses that they return are checked. Raises what `Dialer.call` raises.
        """
        if server and server.address:
            self.judge([server.address])
        self.stopwatch.enter(Phase.RESOLVING)
        records = await self._resolver.find_records(host, record_type, server)
        self.stopwatch.leave()
        if not server and record_type in _TYPES_OF_ADDRESSES:
            self.judge(map(ip_address, records))
        return records

    def judge(self, addresses: Iterable[Address]) -> None:
        """Raise ExchangeFailed unless every address is permitted. One blocked address blocks the host."""
        for address in addresses:
            if not is_permitted(address, self._allowed_networks):
                raise blocked()

    async def _resolve(self, host: str) -> list[Address]:
        self.stopwatch.enter(Phase.RESOLVING)
        addresses = await self._resolver.resolve(host)
        self.stopwatch.leave()
        return addresses


def _affordable_connections() -> int:
    soft_limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if soft_limit == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, soft_limit // 2)
