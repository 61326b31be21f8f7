"""Adapts uvicorn's HTTP handling, start and shutdown for the service.

By default, uvicorn replies to malformed requests in plain text, drops the body of a request that offers an
upgrade, waits for slow clients forever, parses unlimited pipelined requests, does not announce when it closes
idle connections, and handles signals itself. Changing that relies on undocumented names of uvicorn 0.54,
which tests/web/test_uvicorn_assumptions.py checks one by one:

- `HttpToolsProtocol` has `parser`, `url`, `headers`, `scope`, `transport`, `client`, `loop` and `flow`. The
  event loop calls `data_received`, and httptools calls the `on_...` methods. `on_headers_complete` stores the
  request in `cycle`, unless `_should_upgrade` returns true. While another request is being served, the new
  one waits in `pipeline`. `_start_asgi_task` starts serving a request. `on_response_complete` is called after
  each reply. It starts `timeout_keep_alive_task`, which closes an idle connection after `timeout_keep_alive`
  seconds unless `_unset_keepalive_if_required` cancels it. Trailers are appended to `headers`.
  `connection_lost` sets `disconnected` only for `cycle`, the request that arrived last. A stopping server
  calls `shutdown`.
- `RequestResponseCycle`: `more_body` is true until the request has arrived completely, and
  `response_complete` is true once its reply was sent. If `keep_alive` is false, the reply has
  `Connection: close`, and the connection is closed after the reply.
- `Server`: `serve` enters `capture_signals` and awaits `startup`, which sets `started` and `servers`. It then
  calls `on_tick` ten times a second until that returns true, and closes `servers`.
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import uuid
from asyncio import Transport
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal

import httptools
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import Server

from monitoring.contract.catalogue import Catalogue
from monitoring.metrics import CONNECTIONS_CLOSED, NO_OPERATION, record_reply
from monitoring.web.connection_limits import (
    MAX_PIPELINED,
    MAX_REQUESTS,
    ConnectionLimits,
    Pace,
    SlowClients,
)
from monitoring.web.replies import Reply

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

ServerConfig = Config

MAX_HEAD_BYTES = 65_536

# A stopping server keeps idle connections open for this long, because a request may already be on its way.
LAST_REQUEST_SECONDS = 0.2

_HOST = re.compile(rb"(\[[0-9A-Za-z:.]*\]|[0-9A-Za-z._~%!$&'()*+,;=-]*)(:[0-9]*)?")  # RFC 3986 §3.2.2


def configure_server(  # noqa: PLR0913 - all of uvicorn's settings
    app: ASGIApp,
    catalogue: Catalogue,
    *,
    host: str,
    port: int,
    limits: ConnectionLimits,
    backlog: int,
    trusted_proxies: Sequence[str],
    finishing_seconds: int,
) -> ServerConfig:
    """Return uvicorn's configuration for an application. `catalogue` has the application's errors."""
    return Config(
        app,
        host=host,
        port=port,
        http=protocol_for(catalogue, limits),
        backlog=backlog,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(trusted_proxies),
        forwarded_allow_ips=list(trusted_proxies),
        timeout_keep_alive=limits.keep_alive_seconds,
        timeout_graceful_shutdown=finishing_seconds,
    )


class WebServer(Server):
    """A server that calls `announce` once it accepts requests, and stops when `is_stopped` returns true.

    It may share its listening socket with other processes. The kernel's queue belongs to all of them, so a
    waiting connection is not lost if one of them ends.
    """

    def __init__(
        self,
        config: ServerConfig,
        is_stopped: Callable[[], bool],
        announce: Callable[[socket.socket], None],
    ) -> None:
        super().__init__(config)
        self._is_stopped = is_stopped
        self._announce = announce

    async def serve_until_stopped(self, listener: socket.socket) -> None:
        """Serve on a listening socket until stopped, then finish requests in progress."""
        try:
            await self.serve([listener])
        except asyncio.CancelledError:
            # A second stop request aborts requests on purpose, so they are not logged one by one.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            raise

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start accepting connections, and announce the socket."""
        await super().startup(sockets)
        if self.started:
            self._announce(self.servers[0].sockets[0])

    async def on_tick(self, counter: int) -> bool:
        """Return whether the server must stop."""
        return await super().on_tick(counter) or self._is_stopped()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Install no signal handlers, because other code handles signals."""
        yield


def protocol_for(catalogue: Catalogue, limits: ConnectionLimits | None = None) -> type[ContractProtocol]:
    """Return a protocol class for `uvicorn.Config(http=...)` that replies with the errors in `catalogue`."""
    response = catalogue.respond("malformed_request")
    reply = Reply(response.body, response.status, response.headers)
    payload = reply.payload()
    fields = [
        *reply.raw_headers(payload),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", b"{request_id}"),
        (b"connection", b"close"),
    ]
    head = b"".join(b"%s: %s\r\n" % field for field in fields)
    status_line = b"HTTP/1.1 %d %s\r\n" % (reply.status, HTTPStatus(reply.status).phrase.encode())
    answer = b"".join([status_line, head, b"\r\n", payload])
    limits = limits or ConnectionLimits()
    values = {
        "malformed_request": answer,
        "limits": limits,
        "slow_clients": SlowClients(limits.timeout_seconds),
    }
    return type("CatalogueProtocol", (ContractProtocol,), values)


class ContractProtocol(HttpToolsProtocol):
    """HTTP/1.1, parsed by httptools. A malformed request gets the document's error.

    A request that offers an upgrade (`h2c` from Java's HttpClient, `websocket`) is served as if it did not
    offer one, which RFC 9110 §7.8 allows. With httptools alone, its body would be lost. Heads and trailers
    are limited in size. Trailers are dropped, whereas uvicorn would add them to the headers.

    A connection beyond the limits is closed immediately. The connection of a slow client is closed at the
    client's timeout. If more than `MAX_PIPELINED` requests are waiting, the earlier ones are served and the
    others dropped, as RFC 9112 §9.3.2 allows.

    Replies announce how long an idle connection is kept. The connection's last reply has `Connection: close`,
    and data after the last request is not read (RFC 9112 §9.6). The last reply is the one to request number
    `MAX_REQUESTS` or, when the server stops, the next one.
    """

    malformed_request: bytes
    limits: ConnectionLimits
    slow_clients: SlowClients
    is_admitted = False
    is_ending = False  # whether data that arrives from now on is dropped
    is_stopping = False  # whether the next reply is the last one
    arriving: Literal["head", "body"] | None = None  # the part of a request that is being received
    requests = 0
    answered: RequestResponseCycle | None = None  # the request being served, while later ones wait
    piece_bytes = 0
    first_piece_bytes = 0
    bytes_beside_body = 0  # received since the request began, or since the last bytes of its body
    waits_since = 0.0
    unread_bytes = 0  # the unread bytes of replies at the previous check

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Admit the connection and start checking its speed, or close it if a limit is reached."""
        super().connection_made(transport)
        self.is_admitted = self.client is not None and self.limits.admit(self.client[0])
        if not self.is_admitted:
            self.is_ending = True
            transport.abort()
            CONNECTIONS_CLOSED.labels("too_many").inc()
            return
        self.kept_for = b"timeout=%d" % self.timeout_keep_alive
        self.waits_since = now = self.loop.time()
        self.sending = Pace(self.limits.timeout_seconds, now)
        self.reading = Pace(self.limits.timeout_seconds, now)
        self.slow_clients.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection's slot, and notify the request that is being served."""
        self._note_disconnection()
        super().connection_lost(exc)
        if self.is_admitted and self.client:
            self.limits.release(self.client[0])
            self.slow_clients.remove(self)

    def end_if_too_slow(self, now: float) -> None:
        """Close the connection if its client has exceeded its timeout."""
        if self._is_too_slow(now):
            self._note_disconnection()  # before aborting, because uvloop raises an error for later writes
            self.transport.abort()
            CONNECTIONS_CLOSED.labels("too_slow").inc()

    def data_received(self, data: bytes) -> None:
        """Parse received bytes. A request that offers an upgrade is parsed again without the offer."""
        if self._is_idle():
            self.waits_since = self.loop.time()
        self._unset_keepalive_if_required()
        while data and not self.is_ending:
            data = self._parse(data)

    def resume_writing(self) -> None:
        """Continue sending a reply, because the client has read most of the buffer."""
        super().resume_writing()
        self.reading.restart(self.loop.time())

    def on_message_begin(self) -> None:
        """Begin parsing a request. Raises HttpParserError if too many requests are pipelined."""
        if len(self.pipeline) >= MAX_PIPELINED:
            raise httptools.HttpParserError("too many requests at once")
        super().on_message_begin()
        self.arriving = "head"
        self.first_piece_bytes = self.piece_bytes
        self.bytes_beside_body = 0

    def on_headers_complete(self) -> None:
        """Start the request, unless it must be parsed again. Raises HttpParserError for an invalid head."""
        # `bytes_beside_body` also limits heads that never end. It may include bytes outside the head, so the
        # head itself is measured here.
        most_bytes = self.first_piece_bytes + self.bytes_beside_body
        if most_bytes > MAX_HEAD_BYTES and self._measure_head() > MAX_HEAD_BYTES:
            raise httptools.HttpParserError("the request head is too large")
        if not self._has_one_host():
            raise httptools.HttpParserError("not one Host (RFC 9112 §3.2)")
        super().on_headers_complete()
        self.arriving = "body"
        self.headers = []  # headers that come after the body are trailers
        self.sending.restart(self.loop.time())

    def on_body(self, body: bytes) -> None:
        """Pass a piece of the body to the request."""
        super().on_body(body)
        self.bytes_beside_body = 0
        self.sending.move(len(body))

    def on_message_complete(self) -> None:
        """Record that a request has arrived completely."""
        super().on_message_complete()
        self.arriving = None

    def on_response_complete(self) -> None:
        """Start the next pipelined request, or wait for one."""
        self.waits_since = self.loop.time()
        super().on_response_complete()

    def shutdown(self) -> None:
        """Make the next reply the last one, or close the connection if no request is in progress."""
        self.is_stopping = True
        if self._is_asked():
            super().shutdown()
        else:
            self.loop.call_later(LAST_REQUEST_SECONDS, self._close_unless_asked)

    def _close_unless_asked(self) -> None:
        if not (self.arriving == "head" or self._is_asked()):
            self.transport.close()

    def _parse(self, data: bytes) -> bytes:
        """Parse received bytes, and return the bytes to parse next.

        If a request offers an upgrade, the returned bytes are the request without the offer and all bytes
        after the request.
        """
        self.piece_bytes = len(data)
        self.bytes_beside_body += self.piece_bytes
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            if self.parser.get_method() != b"CONNECT":
                return self._write_without_upgrade(data[upgrade.args[0] :])
            self._refuse()
        except httptools.HttpParserError:
            self._refuse()
        else:
            if self.bytes_beside_body > MAX_HEAD_BYTES:
                self._refuse()
        return b""

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self.answered = cycle
        self.requests += 1
        if self.is_stopping or self.requests >= MAX_REQUESTS:
            cycle.keep_alive = False
        saying = self._saying_how_long(cycle, app)  # type: ignore[arg-type] # Starlette's types are wider
        super()._start_asgi_task(cycle, saying)  # type: ignore[arg-type]

    def _saying_how_long(self, cycle: RequestResponseCycle, app: ASGIApp) -> ASGIApp:
        """Return the application with headers that announce how long an idle connection is kept."""

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            def send_with_headers(message: Message) -> Awaitable[None]:
                if message["type"] == "http.response.start" and cycle.keep_alive:
                    headers = message.get("headers", ())
                    if not any(name.lower() == b"connection" for name, _ in headers):
                        kept = (b"connection", b"keep-alive"), (b"keep-alive", self.kept_for)
                        message["headers"] = [*headers, *kept]
                return send(message)

            await app(scope, receive, send_with_headers)

        return answer

    def _note_disconnection(self) -> None:
        if self.answered and not self.answered.response_complete:
            self.answered.disconnected = True
            self.answered.message_event.set()

    def _has_one_host(self) -> bool:
        host = None
        for name, value in self.headers:
            if name == b"host":
                if host is not None:
                    return False
                host = value
        return self.parser.get_http_version() == "1.0" if host is None else _is_host(host)

    def _measure_head(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _should_upgrade(self) -> bool:
        # uvicorn calls this only for an upgrade offer. True prevents uvicorn from serving the head without
        # its body.
        return True

    def _write_without_upgrade(self, rest: bytes) -> bytes:
        head = [
            self.parser.get_method(),
            b" ",
            self.url,
            b" HTTP/",
            self.scope["http_version"].encode(),
            b"\r\n",
        ]
        for name, value in self.scope["headers"]:
            if name != b"upgrade":
                head += [name, b": ", value, b"\r\n"]
        self.parser = httptools.HttpRequestParser(self)
        return b"".join([*head, b"\r\n", rest])

    def _refuse(self) -> None:
        self.is_ending = True
        if self.transport.is_closing():
            return
        if self._is_answering():
            # Earlier requests get their replies, and the connection ends without an error reply.
            self.cycle.keep_alive = False
            return
        record_reply(NO_OPERATION, HTTPStatus.BAD_REQUEST, 0.0)
        request_id = uuid.uuid4().hex.encode()
        self.transport.write(self.malformed_request.replace(b"{request_id}", request_id))
        self.transport.close()

    def _is_asked(self) -> bool:
        """Return whether a request is in progress: its head has arrived, but its reply is not complete."""
        return self.cycle is not None and not self.cycle.response_complete

    def _is_answering(self) -> bool:
        """Return whether a request has arrived completely, but its reply is not complete."""
        return self._is_asked() and not self.cycle.more_body

    def _is_idle(self) -> bool:
        """Return whether the connection is idle between requests, where uvicorn's own timer applies."""
        return self.timeout_keep_alive_task is not None and self.arriving is None

    def _is_too_slow(self, now: float) -> bool:
        unread_bytes = self.transport.get_write_buffer_size()
        self.reading.move(max(0, self.unread_bytes - unread_bytes))
        self.unread_bytes = unread_bytes
        if unread_bytes:
            return self.reading.is_too_slow(now)
        self.reading.restart(now)
        if self.flow.read_paused:  # the client cannot send now, which must not count as slow
            self.sending.restart(now)
        if not self._is_asked():
            return not self._is_idle() and now - self.waits_since > self.limits.timeout_seconds
        return self.cycle.more_body and self.sending.is_too_slow(now)


def _is_host(value: bytes) -> bool:
    return _HOST.fullmatch(value) is not None
