"""Sends HTTP requests to untrusted addresses. A failing network or server is a result, not an exception."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from monitoring.outbound.answers import Answer, AnswerReader
from monitoring.outbound.certificates import Expiry
from monitoring.outbound.cookies import Cookies
from monitoring.outbound.dialer import Call, Dialer, open_configured_dialer
from monitoring.outbound.exchanges import BodyReader, Exchange, OutboundRequest
from monitoring.outbound.failures import ExchangeFailed, FailureCode, blocked, invalid
from monitoring.outbound.redirects import MAX_REDIRECTS, Hop, is_redirect, next_hop
from monitoring.outbound.stopwatch import Phase
from monitoring.outbound.targets import DisguisedAddress, UnusableUrl
from monitoring.settings import Settings


@asynccontextmanager
async def open_configured_client(settings: Settings) -> AsyncIterator[HttpClient]:
    """Open a client with its own dialer. When the block ends, requests in progress are cancelled."""
    async with open_configured_dialer(settings) as dialer:
        yield HttpClient(dialer)


class HttpClient:
    """Speaks HTTP/1.1, on a new connection for every request."""

    def __init__(self, dialer: Dialer) -> None:
        self._dialer = dialer

    async def send(self, request: OutboundRequest, body_reader: BodyReader | None = None) -> Exchange:
        """Send a request and return its result, even if the network or the server fails.

        Without a body reader, the exchange ends after the response's head. With a body reader, it ends after
        the body, or earlier when the reader has read enough or the size limit is reached.

        Raises ValueError for an invalid request, and OSError when this machine has no sockets left, because
        the server causes neither error.
        """
        try:
            return await self._dialer.call(partial(_follow, request, body_reader), request.timeout_seconds)
        except ExchangeFailed as failed:
            return Exchange(
                failure=failed.failure, timings=failed.timings, tls_expires_at=failed.tls_expires_at
            )


async def _follow(request: OutboundRequest, body_reader: BodyReader | None, call: Call) -> Exchange:
    """Send a request, follow redirects if `request.follow_redirects` is set, and return the last result."""
    hop, cookies = _first_hop(request), Cookies()
    expiries: list[Expiry] = []
    for _ in range(MAX_REDIRECTS + 1):
        answer, tls_expiry = await _ask(hop, request, body_reader, call)
        if tls_expiry:
            expiries.append(tls_expiry)
        if not request.follow_redirects or not is_redirect(answer.status_code, answer.location):
            first_expiry = min(expiries, default=None)
            return Exchange(
                status_code=answer.status_code,
                body=answer.body,
                is_cut=answer.is_cut,
                timings=call.stopwatch.timings(),
                tls_expires_at=first_expiry.at if first_expiry else None,
                expiring_certificate=first_expiry.subject if first_expiry else None,
                retry_after=answer.retry_after,
                headers=answer.headers,
            )
        cookies.keep(hop.target, answer.headers.get(b"set-cookie", ()))
        hop = replace(_following_hop(hop, answer), cookies=cookies)
    raise ExchangeFailed(FailureCode.TOO_MANY_REDIRECTS, f"Redirected more than {MAX_REDIRECTS} times")


async def _ask(
    hop: Hop, request: OutboundRequest, body_reader: BodyReader | None, call: Call
) -> tuple[Answer, Expiry | None]:
    target, written = hop.target, hop.written
    is_first_origin = target.origin == request.first_hop.target.origin

    def new_reader() -> AnswerReader:
        return AnswerReader(
            is_head=hop.method == "HEAD",
            follows_redirects=request.follow_redirects,
            body_reader=body_reader,
            on_first_byte=call.stopwatch.begin_reading,
        )

    tls = request.tls._replace(protocols=("http/1.1",))
    connection = await call.connect(
        target,
        new_reader,
        tls_host=target.host.removesuffix(".") if target.scheme == "https" else None,
        verify_tls=request.verify_tls,
        tls=tls if is_first_origin else tls._replace(client_certificate=None),
    )
    try:
        connection.transport.write(written)
        call.stopwatch.enter(Phase.WAITING)
        return await connection.reader.answer, connection.tls_expiry
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
