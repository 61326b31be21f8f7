"""The only file that imports uvicorn: how it speaks HTTP for us, begins to listen, and ends.

uvicorn alone answers malformed requests in plain text, drops the body of a request that offers an upgrade,
closes the connection without an answer when an answer breaks early, waits for slow clients for ever, parses
pipelined requests without bound, and handles signals itself. Changing that takes names of uvicorn 0.54 that
it does not document, which tests/contract/test_uvicorn_assumptions.py checks one by one:

- `HttpToolsProtocol`: `parser`, `url`, `headers`, `scope`, `transport`, `client`, `loop` and `flow`;
  httptools calls `data_received` and `on_...`. `on_headers_complete` makes a `RequestResponseCycle`, which it
  finds under that name among its globals, keeps it as `cycle` and hands it to `_start_asgi_task`, unless
  `_should_upgrade` says yes; if another one is being answered, it waits in `pipeline`. `_start_asgi_task`
  makes a task of its `run_asgi`, which is among `tasks` until it is done: the server waits for those.
  `on_response_complete` is called after each answer: it counts in `server_state.total_requests`, takes the
  next of the `pipeline`, or keeps a timer for `timeout_keep_alive` seconds as `timeout_keep_alive_task`,
  which calls `timeout_keep_alive_handler` and ends with the connection. Headers that come later are appended
  to `headers`. `connection_lost` marks only `cycle` as `disconnected`, which is the request that came last.
- `RequestResponseCycle`: `more_body` and `response_complete` tell how far it is; without `keep_alive` it
  closes the connection after the answer. It writes to its `transport`, and begins with `default_headers`,
  unless it is `disconnected`; if `flow.write_paused`, it waits. `send` sets `response_started`, and makes
  `waiting_for_100_continue` false. Then it looks at every header, setting `chunked_encoding` as it goes, and
  writes nothing if one has a control character. At the end of the answer it sets `message_event` and calls
  `on_response`. While nothing has started, an error of the application is answered with 500.
- `Server`: `serve` enters `capture_signals`, awaits `startup`, which sets `started` and `servers`, and calls
  `on_tick` ten times a second until it returns true. Then it closes `servers`. Without sockets to listen on,
  `startup` leaves `servers` empty. A protocol is made of `config`, `server_state` and `lifespan.state`, and
  is among `server_state.connections` while it is connected.
- `uvicorn.main` is its command, with a library for commands. Its package only passes on what that module
  has: from then on `uvicorn.Server` can be called, and not be inherited from.
"""

from __future__ import annotations

import asyncio
import logging
import re
import uuid
from contextlib import contextmanager
from functools import cache, lru_cache
from http import HTTPStatus
from types import FunctionType
from typing import TYPE_CHECKING, Any

import httptools

from monitoring.contract.connection_limits import MAX_PIPELINED, ConnectionLimits, Pace
from monitoring.contract.joined_writes import JoinedWrites
from monitoring.contract.slow_clients import Watch
from monitoring.deferred_modules import deferred
from monitoring.metrics import CONNECTIONS_CLOSED, NO_OPERATION, record_answer

with deferred("configparser", "uvicorn.main"):
    from uvicorn.config import Config
    from uvicorn.protocols.http import httptools_impl
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
    from uvicorn.server import Server

if TYPE_CHECKING:
    import socket
    from asyncio import Transport
    from collections.abc import Callable, Iterator, Sequence

    from starlette.types import ASGIApp
    from uvicorn._types import ASGI3Application, ASGISendEvent, HTTPResponseStartEvent

    from monitoring.contract.catalogue import Catalogue
    from monitoring.contract.shared_listener import SharedListener

ServerConfig = Config

MAX_HEAD_BYTES = 65_536

_HOST = re.compile(rb"(\[[0-9A-Za-z:.]*\]|[0-9A-Za-z._~%!$&'()*+,;=-]*)(:[0-9]*)?")  # RFC 3986 §3.2.2

_FRAMING = {b"connection", b"content-length", b"transfer-encoding"}
_CONTROL_CHARACTERS = bytes({*range(0x20), 0x7F} - {ord("\t")})  # RFC 9110 §5.5
_WITHOUT_CONTROLS = bytes.maketrans(_CONTROL_CHARACTERS, b"?" * len(_CONTROL_CHARACTERS))


def configure_server(  # noqa: PLR0913 - all that uvicorn is told
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
    """Say how uvicorn serves an application, whose errors are in the catalogue."""
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
        timeout_graceful_shutdown=finishing_seconds,
    )


class WebServer(Server):
    """Calls `announce` when it accepts requests, and ends when `is_stopped` says so.

    It listens on the address of the configuration, or accepts what a shared listener leaves to it.
    """

    def __init__(
        self,
        config: ServerConfig,
        is_stopped: Callable[[], bool],
        announce: Callable[[socket.socket], None],
        shared: SharedListener | None = None,
    ) -> None:
        super().__init__(config)
        self._is_stopped = is_stopped
        self._announce = announce
        self._shared = shared

    async def serve_until_stopped(self) -> None:
        """Serve, and end what is under way."""
        try:
            await self.serve([] if self._shared else None)
        except asyncio.CancelledError:
            # The second request to stop cuts requests off on purpose: no word of each of them.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            raise

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and announce the socket."""
        await super().startup(sockets)
        if self._shared:
            self._shared.start(self._make_protocol, lambda: len(self.server_state.connections))
            self.servers = [self._shared]  # type: ignore[list-item]  # it has what is called
        if self.started:
            self._announce(self.servers[0].sockets[0])

    async def on_tick(self, counter: int) -> bool:
        """Say whether it is time to end."""
        if self._shared:
            self._shared.tell()
        return await super().on_tick(counter) or self._is_stopped()

    def _make_protocol(self) -> asyncio.Protocol:
        protocol: Any = self.config.http_protocol_class
        made: asyncio.Protocol = protocol(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return made

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone: somebody else listens to them."""
        yield


def protocol_for(catalogue: Catalogue, limits: ConnectionLimits | None = None) -> type[ContractProtocol]:
    """Return the protocol class for `uvicorn.Config(http=...)` that answers with a catalogue's errors."""
    reply = catalogue.reply("malformed_request")
    payload = reply.payload()
    fields = [
        *reply.raw_headers(payload),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", b"{request_id}"),
        (b"connection", b"close"),
    ]
    head = b"".join(b"%s: %s\r\n" % field for field in fields)
    answer = b"".join([_status_line(reply.status), head, b"\r\n", payload])
    limits = limits or ConnectionLimits()
    values = {"malformed_request": answer, "limits": limits, "watch": Watch(limits.timeout_seconds)}
    return type("CatalogueProtocol", (ContractProtocol,), values)


class ContractProtocol(HttpToolsProtocol):
    """HTTP/1.1, parsed by httptools. A malformed request gets the document's error.

    A request that offers an upgrade (`h2c` from Java's HttpClient, `websocket`) is served as if it did not
    offer one, which RFC 9110 §7.8 allows: httptools alone would lose its body. Heads and trailers are limited
    in size. Trailers are dropped, where uvicorn would add them to the headers.

    A connection beyond the limits is closed at once, and that of a client which is too slow when its time is
    over. Beyond `MAX_PIPELINED` requests, those that came first are answered and the others dropped, as
    RFC 9112 §9.3.2 allows.

    Callbacks of every request name the class whose method they extend: `super()` takes twice as long.
    """

    malformed_request: bytes
    limits: ConnectionLimits
    watch: Watch
    is_admitted = False
    is_ending = False  # what arrives from now on is dropped
    answered: RequestResponseCycle | None = None  # others that have arrived wait for it
    piece_bytes = 0
    first_piece_bytes = 0
    bytes_beside_body = 0  # since the request began or, later, since anything of its body came
    is_waiting = False  # for the next request
    waits_since = 0.0
    unread_bytes = 0  # of answers, when we last looked

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Keep the connection, if there are not too many, and watch how fast the client is."""
        super().connection_made(transport)
        self.is_admitted = self.client is not None and self.limits.admit(self.client[0])
        if not self.is_admitted:
            self.is_ending = True
            transport.abort()
            CONNECTIONS_CLOSED.labels("too_many").inc()
            return
        self.waits_since = now = self.loop.time()
        self.sending = Pace(self.limits.timeout_seconds, now)
        self.reading = Pace(self.limits.timeout_seconds, now)
        self.watch.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another connection, and tell the request that is being answered."""
        if self.answered and not self.answered.response_complete:
            self.answered.disconnected = True
            self.answered.message_event.set()
        super().connection_lost(exc)
        if self.is_admitted and self.client:
            self.limits.release(self.client[0])
            self.watch.remove(self)

    def end_if_too_slow(self, now: float) -> None:
        """Close the connection if its client has used up its time."""
        if self._is_too_slow(now):
            self.transport.abort()
            CONNECTIONS_CLOSED.labels("too_slow").inc()

    def data_received(self, data: bytes) -> None:
        """Parse. A request that offers an upgrade is parsed once more, without the offer."""
        self.is_waiting = False
        while data and not self.is_ending:
            data = self._parse(data)

    def resume_writing(self) -> None:
        """Go on with an answer: the client has read most of what was there."""
        super().resume_writing()
        self.reading.restart(self.loop.time())

    def on_message_begin(self) -> None:
        """Begin a request. Raises HttpParserError if too many wait for their answers."""
        if len(self.pipeline) >= MAX_PIPELINED:
            raise httptools.HttpParserError("too many requests at once")
        HttpToolsProtocol.on_message_begin(self)
        self.first_piece_bytes = self.piece_bytes
        self.bytes_beside_body = 0

    def on_headers_complete(self) -> None:
        """Hand the request over, unless it has to be parsed again. Raises HttpParserError for a bad head."""
        # `bytes_beside_body` guards against heads without an end. A head that ended in a large piece is
        # measured here.
        most_bytes = self.first_piece_bytes + self.bytes_beside_body
        if most_bytes > MAX_HEAD_BYTES and self._measure_head() > MAX_HEAD_BYTES:
            raise httptools.HttpParserError("the request head is too large")
        if not self._has_one_host():
            raise httptools.HttpParserError("not one Host (RFC 9112 §3.2)")
        _hand_over(self)
        self.headers = []  # headers that come after the body are trailers
        self.sending.restart(self.loop.time())

    def on_body(self, body: bytes) -> None:
        """Hand a piece of the body over."""
        HttpToolsProtocol.on_body(self, body)
        self.bytes_beside_body = 0
        self.sending.move(len(body))

    def on_response_complete(self) -> None:
        """Wait for the next request, or begin with it if it is here. The timer stays from one to the next."""
        self.waits_since = self.loop.time()
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
            return
        self.is_waiting = True
        if self.timeout_keep_alive_task is None:
            self._end_later(self.timeout_keep_alive)

    def _end_later(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(seconds, self._end_unless_used)

    def _end_unless_used(self) -> None:
        """Close a connection that has waited for its next request long enough."""
        self.timeout_keep_alive_task = None
        if not self.is_waiting:
            return  # the end of the present request sets the timer again
        seconds_left = self.waits_since + self.timeout_keep_alive - self.loop.time()
        if seconds_left > 0:
            self._end_later(seconds_left)
        else:
            self.timeout_keep_alive_handler()

    def _parse(self, data: bytes) -> bytes:
        """Return what is to be parsed next: a request that offered an upgrade, and what follows it."""
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
        # `create_task` would first write a name with a number.
        task = asyncio.Task(cycle.run_asgi(app), loop=self.loop, name="request")
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

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
        # uvicorn asks only if there is an offer. "Yes" keeps it from serving the head without its body.
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
        if (
            self._is_answering()
        ):  # what was asked before gets its answers, and the connection ends without ours
            self.cycle.keep_alive = False
            return
        record_answer(NO_OPERATION, HTTPStatus.BAD_REQUEST, 0.0)
        request_id = uuid.uuid4().hex.encode()
        self.transport.write(self.malformed_request.replace(b"{request_id}", request_id))
        self.transport.close()

    def _is_answering(self) -> bool:
        """Say whether requests that arrived whole still wait for their answers."""
        return self.cycle is not None and not (self.cycle.response_complete or self.cycle.more_body)

    def _is_too_slow(self, now: float) -> bool:
        unread_bytes = self.transport.get_write_buffer_size()
        self.reading.move(max(0, self.unread_bytes - unread_bytes))
        self.unread_bytes = unread_bytes
        if unread_bytes:
            return self.reading.is_too_slow(now)
        self.reading.restart(now)
        if self.flow.read_paused:  # the client may send nothing now
            self.sending.restart(now)
        if self.cycle is None or self.cycle.response_complete:
            return now - self.waits_since > self.limits.timeout_seconds
        return self.cycle.more_body and self.sending.is_too_slow(now)


@lru_cache(maxsize=16)  # nearly all requests name the same one
def _is_host(value: bytes) -> bool:
    return _HOST.fullmatch(value) is not None


@cache
def _status_line(status: int) -> bytes:
    return b"HTTP/1.1 %d %s\r\n" % (status, HTTPStatus(status).phrase.encode())


class WholeAnswers(RequestResponseCycle):
    """A request and its answer, whose head is sent together with the beginning of its body.

    An answer that breaks before that is a 500, where uvicorn closes the connection, with or without a head.
    One that comes whole, as nearly all do, is written here.
    """

    _start: HTTPResponseStartEvent | None = None

    async def send(self, message: ASGISendEvent) -> None:
        """Keep the head until the body begins. Raises RuntimeError for a control character in a header."""
        if self.transport.is_closing():  # uvloop raises an error when something is written then
            self.disconnected = True
        if message["type"] == "http.response.start" and not self.response_started:
            self._start = message
        elif self._start and not self.response_started:
            if not self._write_whole(self._start, message):
                await self._begin(self._start, message)
        else:
            await _send(self, message)

    def _write_whole(self, start: HTTPResponseStartEvent, message: ASGISendEvent) -> bool:
        """Write what uvicorn would write. Return False, and leave it to uvicorn, if there is more to it."""
        is_plain = self.keep_alive and self.scope["method"] != "HEAD" and not message.get("more_body")
        if not is_plain or self.disconnected or self.flow.write_paused:
            return False
        body: Any = message.get("body", b"")
        fields = [*self.default_headers, *start["headers"]]
        if [field for field in fields if field[0] in _FRAMING] != [(b"content-length", b"%d" % len(body))]:
            return False
        lines = list(map(b": ".join, fields))
        text = b"".join(lines)
        if text.translate(_WITHOUT_CONTROLS) != text:  # uvicorn refuses such an answer
            return False
        self.response_started = self.response_complete = True
        self.waiting_for_100_continue = False
        head = b"\r\n".join(lines)
        self.transport.write(b"".join((_status_line(start["status"]), head, b"\r\n\r\n", body)))
        self.message_event.set()
        self.on_response()
        return True

    async def _begin(self, *messages: ASGISendEvent) -> None:
        transport = self.transport
        self.transport = joined = JoinedWrites(transport)  # type: ignore[assignment]
        try:
            for message in messages:
                await _send(self, message)
        except RuntimeError:  # nothing was written
            self.response_started, self.chunked_encoding = False, None
            raise
        finally:
            self.transport = transport
        joined.flush()


_send = RequestResponseCycle.send  # `super()` and a method more would cost what all of `WholeAnswers` does

# uvicorn's `on_headers_complete`, making cycles of our class: it has no setting for that. To change the class
# of a cycle afterwards would cost as much as validating a request, since its attributes would move.
_hand_over = FunctionType(
    HttpToolsProtocol.on_headers_complete.__code__,
    vars(httptools_impl) | {"RequestResponseCycle": WholeAnswers},
)
