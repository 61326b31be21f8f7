"""Sends HTTP requests to addresses that strangers chose. Whatever comes back is an outcome, not an error."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from monitoring.outbound.answers import MAX_BODY_BYTES, AnswerReader
from monitoring.outbound.dialer import open_configured_dialer
from monitoring.outbound.encodings import decode
from monitoring.outbound.exchanges import Exchange
from monitoring.outbound.failures import ExchangeFailed, FailureCode, blocked, invalid
from monitoring.outbound.redirects import MAX_REDIRECTS, is_redirect, next_hop
from monitoring.outbound.stopwatch import Phase
from monitoring.outbound.targets import DisguisedAddress, UnusableUrl

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from datetime import datetime

    from monitoring.outbound.answers import Answer
    from monitoring.outbound.dialer import Call, Dialer
    from monitoring.outbound.exchanges import OutboundRequest
    from monitoring.outbound.redirects import Hop
    from monitoring.settings import Settings


@asynccontextmanager
async def open_configured_client(settings: Settings) -> AsyncIterator[HttpClient]:
    """Open a client with a dialer of its own. When the block ends, requests under way are cancelled."""
    async with open_configured_dialer(settings) as dialer:
        yield HttpClient(dialer)


class HttpClient:
    """Speaks HTTP/1.1, on a new connection for every request."""

    def __init__(self, dialer: Dialer) -> None:
        self._dialer = dialer

    async def send(self, request: OutboundRequest) -> Exchange:
        """Send a request and return what came of it, whatever the network and the other side do.

        Raises ValueError for a request that cannot be written, and OSError when this machine has no sockets
        left. Neither says anything about the other side.
        """
        try:
            return await self._dialer.call(partial(_follow, request), request.timeout_seconds)
        except ExchangeFailed as failed:
            return Exchange(
                failure=failed.failure, timings=failed.timings, tls_expires_at=failed.tls_expires_at
            )


async def _follow(request: OutboundRequest, call: Call) -> Exchange:
    """Send a request, and follow redirects if it says so."""
    hop = _first_hop(request)
    expiries: list[datetime] = []
    for _ in range(MAX_REDIRECTS + 1):
        answer, tls_expires_at = await _ask(hop, request, call)
        if tls_expires_at:
            expiries.append(tls_expires_at)
        if not request.follow_redirects or not is_redirect(answer.status_code, answer.location):
            return Exchange(
                status_code=answer.status_code,
                body=decode(answer.body, answer.content_encoding, MAX_BODY_BYTES)
                if request.keep_body
                else b"",
                retry_after=answer.retry_after,
                timings=call.stopwatch.timings(),
                tls_expires_at=min(expiries, default=None),
                headers=answer.headers,
            )
        hop = _following_hop(hop, answer)
    raise ExchangeFailed(FailureCode.TOO_MANY_REDIRECTS, f"Redirected more than {MAX_REDIRECTS} times")


async def _ask(hop: Hop, request: OutboundRequest, call: Call) -> tuple[Answer, datetime | None]:
    target, written = hop.target, hop.written

    def new_reader() -> AnswerReader:
        return AnswerReader(
            is_head=hop.method == "HEAD",
            follows_redirects=request.follow_redirects,
            keeps_body=request.keep_body,
            on_first_byte=call.stopwatch.begin_reading,
        )

    connection = await call.connect(
        target,
        new_reader,
        tls_host=target.host.removesuffix(".") if target.scheme == "https" else None,
        verify_tls=request.verify_tls,
        resumption=request.tls_resumption,
    )
    try:
        connection.transport.write(written)
        call.stopwatch.enter(Phase.WAITING)
        answer = await connection.reader.answer
        connection.keep_session()
        return answer, connection.tls_expires_at
    finally:
        connection.transport.abort()
        connection.reader.let_go()


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
