"""Sends requests to addresses that strangers chose, and takes whatever comes back for an outcome."""

from __future__ import annotations

import asyncio
import resource
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

from monitoring.outbound.addresses import is_permitted, read_networks
from monitoring.outbound.answers import MAX_BODY_BYTES, AnswerReader
from monitoring.outbound.connections import Connector, Destination
from monitoring.outbound.encodings import decode
from monitoring.outbound.exchanges import Exchange, Failure, FailureCode
from monitoring.outbound.failures import ExchangeFailed, blocked, invalid
from monitoring.outbound.redirects import MAX_REDIRECTS, is_redirect, next_hop
from monitoring.outbound.resolving import Resolver
from monitoring.outbound.stopwatch import Phase, Stopwatch
from monitoring.outbound.targets import DisguisedAddress, UnusableUrl

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from monitoring.outbound.addresses import Address, Network
    from monitoring.outbound.answers import Answer
    from monitoring.outbound.exchanges import OutboundRequest
    from monitoring.outbound.redirects import Hop
    from monitoring.settings import Settings

MAX_CONNECTIONS = 4096


@asynccontextmanager
async def open_http_client(
    *, allowed_networks: tuple[str, ...] = (), dns_servers: tuple[str, ...] = (), ca_file: str | None = None
) -> AsyncIterator[HttpClient]:
    """Open a client of the running loop. Sends that are under way when the block ends are cancelled.

    Networks (CIDR) in `allowed_networks` may be reached although they are not public; clouds' metadata
    addresses never. `ca_file` replaces the system's certificate authorities.
    """
    async with Resolver(dns_servers) as resolver:
        client = HttpClient(resolver, Connector(ca_file), read_networks(allowed_networks))
        try:
            yield client
        finally:
            await client.close()


def open_configured_client(settings: Settings) -> AbstractAsyncContextManager[HttpClient]:
    """Open a client that may reach, asks and trusts what the settings say."""
    return open_http_client(
        allowed_networks=settings.allowed_networks,
        dns_servers=settings.dns_servers,
        ca_file=str(settings.ca_file) if settings.ca_file else None,
    )


class HttpClient:
    """Speaks HTTP/1.1, on a new connection for every request."""

    def __init__(
        self, resolver: Resolver, connector: Connector, allowed_networks: tuple[Network, ...] = ()
    ) -> None:
        self._resolver = resolver
        self._connector = connector
        self._allowed_networks = allowed_networks
        self._max_connections = _affordable_connections()
        self._spare_connections = asyncio.Semaphore(self._max_connections)
        self._sending: dict[asyncio.Task[object], asyncio.Future[None] | None] = {}  # whose end is waited for

    @property
    def max_connections(self) -> int:
        """How many requests are sent at once; whoever sends more waits."""
        return self._max_connections

    async def close(self) -> None:
        """Cancel the tasks that are sending, and wait until they no longer are."""
        ends = {task: asyncio.get_running_loop().create_future() for task in self._sending}
        self._sending.update(ends)
        for task in ends:
            task.cancel()
        if ends:
            await asyncio.wait(ends.values())

    async def send(self, request: OutboundRequest) -> Exchange:
        """Send a request and return what came of it, whatever the network and the other side do.

        The time runs from when a connection is to spare: a process uses half of the descriptors it may open.
        Raises ValueError for a request that cannot be written, and OSError when this machine has no sockets
        left; neither says anything about the other side.
        """
        task = cast("asyncio.Task[object]", asyncio.current_task())
        self._sending[task] = None
        try:
            async with self._spare_connections:
                return await self._send(request)
        finally:
            if end := self._sending.pop(task):
                end.set_result(None)

    async def _send(self, request: OutboundRequest) -> Exchange:
        stopwatch = Stopwatch()
        deadline = asyncio.get_running_loop().time() + request.timeout_seconds
        try:
            async with asyncio.timeout_at(deadline):
                return await self._follow(request, deadline, stopwatch)
        except TimeoutError:
            failure = Failure(FailureCode.TIMEOUT, _too_late(request.timeout_seconds, stopwatch.phase))
            return Exchange(failure=failure, timings=stopwatch.timings())
        except ExchangeFailed as failed:
            if failed.failure.code == FailureCode.BLOCKED_ADDRESS:
                return Exchange(failure=failed.failure)  # no timing either: it would tell what listens there
            return Exchange(
                failure=failed.failure, timings=stopwatch.timings(), tls_expires_at=failed.tls_expires_at
            )

    async def _follow(self, request: OutboundRequest, deadline: float, stopwatch: Stopwatch) -> Exchange:
        hop = _first_hop(request)
        expiries: list[datetime] = []
        for _ in range(MAX_REDIRECTS + 1):
            stopwatch.start_hop()
            answer, tls_expires_at = await self._ask(hop, request, deadline, stopwatch)
            if tls_expires_at:
                expiries.append(tls_expires_at)
            if not request.follow_redirects or not is_redirect(answer.status_code, answer.location):
                return Exchange(
                    status_code=answer.status_code,
                    body=decode(answer.body, answer.content_encoding, MAX_BODY_BYTES)
                    if request.keep_body
                    else b"",
                    timings=stopwatch.timings(),
                    tls_expires_at=min(expiries, default=None),
                )
            hop = _following_hop(hop, answer)
        raise ExchangeFailed(FailureCode.TOO_MANY_REDIRECTS, f"Redirected more than {MAX_REDIRECTS} times")

    async def _ask(
        self, hop: Hop, request: OutboundRequest, deadline: float, stopwatch: Stopwatch
    ) -> tuple[Answer, datetime | None]:
        target, written = hop.target, hop.written
        addresses = [target.address] if target.address else await self._resolve(target.host, stopwatch)
        self._judge(addresses)
        destination = Destination(
            addresses=addresses,
            port=target.port,
            tls_host=target.host.removesuffix(".") if target.scheme == "https" else None,
            verify_tls=request.verify_tls,
        )

        def new_reader() -> AnswerReader:
            return AnswerReader(
                is_head=hop.method == "HEAD",
                follows_redirects=request.follow_redirects,
                keeps_body=request.keep_body,
                on_first_byte=stopwatch.begin_reading,
            )

        connection = await self._connector.open(destination, new_reader, deadline, stopwatch)
        try:
            connection.transport.write(written)
            stopwatch.enter(Phase.WAITING)
            return await connection.reader.answer, connection.tls_expires_at
        finally:
            connection.transport.abort()
            connection.reader.let_go()

    async def _resolve(self, host: str, stopwatch: Stopwatch) -> list[Address]:
        """Resolve a host, once a hop."""
        stopwatch.enter(Phase.RESOLVING)
        addresses = await self._resolver.resolve(host)
        stopwatch.leave()
        return addresses

    def _judge(self, addresses: Sequence[Address]) -> None:
        """Raise ExchangeFailed unless all may be connected to: one that is refused refuses them all."""
        for address in addresses:
            if not is_permitted(address, self._allowed_networks):
                raise blocked()


def _first_hop(request: OutboundRequest) -> Hop:
    try:
        return request.first_hop
    except UnusableUrl:
        raise blocked() from None


def _following_hop(hop: Hop, answer: Answer) -> Hop:
    try:
        return next_hop(hop, answer.status_code, answer.location or "")
    except DisguisedAddress:
        raise blocked() from None
    except UnusableUrl:
        raise invalid("Redirected to what is no address of http or https") from None


def _too_late(timeout_seconds: float, phase: Phase) -> str:
    seconds = "1 second" if timeout_seconds == 1 else f"{timeout_seconds:g} seconds"
    return f"No answer within {seconds} ({phase.words})"


def _affordable_connections() -> int:
    soft_limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if soft_limit == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, soft_limit // 2)
