"""How uvicorn speaks HTTP for us: malformed requests get the document's error, upgrades are declined."""

import uuid
from http import HTTPStatus

import httptools
from uvicorn._types import (
    ASGI3Application,
    ASGISendEvent,
    HTTPResponseBodyEvent,
    HTTPResponseStartEvent,
)
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from monitoring.contract.catalogue import Catalogue
from monitoring.contract.witness import NO_OPERATION
from monitoring.metrics import record_answer

MAX_HEAD_BYTES = 65_536
CLOSE = (b"connection", b"close")
FRAMING = frozenset({b"connection", b"transfer-encoding"})
CONTROLS = bytes({*range(0x20), 0x7F} - {ord("\t")})


class ContractProtocol(HttpToolsProtocol):
    """HTTP/1.1 by httptools.

    A request that offers an upgrade (`h2c` from Java's HttpClient, `websocket`) is served as if it had not,
    which RFC 9110 §7.8 allows: httptools alone would lose its body. Heads and trailers are limited in
    size, and trailers are dropped, where uvicorn would add them to the headers.
    """

    malformed_request: bytes
    piece_bytes = 0
    first_piece_bytes = 0
    bytes_beside_body = 0  # since the request began or, later, since anything of its body came

    def data_received(self, data: bytes) -> None:
        """Parse; what follows the head of an upgrade offer is parsed once more without the offer."""
        self._unset_keepalive_if_required()
        self.piece_bytes = len(data)
        self.bytes_beside_body += self.piece_bytes
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            if self.parser.get_method() == b"CONNECT":
                self._refuse()
            else:
                self._serve_without_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._refuse()
        else:
            if self.bytes_beside_body > MAX_HEAD_BYTES:
                self._refuse()

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self.first_piece_bytes = self.piece_bytes
        self.bytes_beside_body = 0

    def on_headers_complete(self) -> None:
        """Hand the request over, unless it has to be parsed again. Raises HttpParserError above the limit."""
        # `bytes_beside_body` guards heads without end; one that ended in a large piece is measured here.
        most_bytes = self.first_piece_bytes + self.bytes_beside_body
        if most_bytes > MAX_HEAD_BYTES and self._measure_head() > MAX_HEAD_BYTES:
            raise httptools.HttpParserError("the request head is too large")
        super().on_headers_complete()
        self.headers = []  # what comes after the body are trailers

    def on_body(self, body: bytes) -> None:
        """Hand a piece of the body over."""
        super().on_body(body)
        self.bytes_beside_body = 0

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        if cycle.scope["method"] != "HEAD":  # no body would follow
            cycle.__class__ = _Cycle  # uvicorn has made it
        super()._start_asgi_task(cycle, app)

    def _measure_head(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _should_upgrade(self) -> bool:
        # Asked only when there is an offer: "yes" keeps uvicorn from serving the head without its body.
        return True

    def _serve_without_upgrade(self, rest: bytes) -> None:
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
        self.data_received(b"".join([*head, b"\r\n", rest]))

    def _refuse(self) -> None:
        if not self.transport.is_closing():
            self.logger.info("malformed HTTP request")
            request_id = uuid.uuid4().hex.encode()
            self.transport.write(self.malformed_request.replace(b"{request_id}", request_id))
            self.transport.close()
            record_answer(NO_OPERATION, HTTPStatus.BAD_REQUEST, 0.0)


class _Cycle(RequestResponseCycle):
    """A request and its answer. One that comes whole is written at once, every other by uvicorn.

    What breaks before its body is a 500, where uvicorn leaves a head without a body, or nothing at all.
    """

    _start: HTTPResponseStartEvent | None = None

    async def send(self, message: ASGISendEvent) -> None:
        """Keep the head until its body comes. Raises RuntimeError for a control character in a header."""
        if message["type"] == "http.response.start" and not self.response_started:
            self._start = message
        elif self._start is None or self.response_started:
            await super().send(message)
        elif message["type"] == "http.response.body" and _is_whole(self._start, message):
            await self._answer(self._start, message.get("body", b""))
        else:
            await super().send(self._start)
            await super().send(message)

    async def _answer(self, start: HTTPResponseStartEvent, body: bytes) -> None:
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        fields = [*self.default_headers, *start["headers"], *(() if self.keep_alive else (CLOSE,))]
        lines = [STATUS_LINE[start["status"]], *[b"%s: %s\r\n" % field for field in fields], b"\r\n"]
        head = b"".join(lines)
        # All at once, where uvicorn searches every name and every value.
        if len(head) - len(head.translate(None, CONTROLS)) != 2 * len(lines):
            raise RuntimeError("a header has a control character")
        self.response_started = self.response_complete = True
        self.waiting_for_100_continue = False
        self.transport.write(head + body)
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()


def _is_whole(start: HTTPResponseStartEvent, message: HTTPResponseBodyEvent) -> bool:
    """Whether both only have to be written: the length is all that is told of the framing."""
    headers = start.get("headers", ())  # in lower case, and a list, as `AnswerHeaders` leaves them
    length = (b"content-length", b"%d" % len(message.get("body", b"")))
    is_framed = length in headers and FRAMING.isdisjoint(dict(headers))
    return is_framed and not message.get("more_body")


def protocol_for(catalogue: Catalogue) -> type[ContractProtocol]:
    """Return the protocol class for `uvicorn.Config(http=...)` that answers with a catalogue's errors."""
    reply = catalogue.reply("malformed_request")
    payload = reply.payload()
    head = b"HTTP/1.1 %d %s\r\n" % (reply.status, HTTPStatus(reply.status).phrase.encode())
    fields = [*reply.raw_headers(payload), (b"x-request-id", b"{request_id}"), (b"connection", b"close")]
    answer = b"".join([head, *(b"%s: %s\r\n" % field for field in fields), b"\r\n", payload])
    return type("CatalogueProtocol", (ContractProtocol,), {"malformed_request": answer})
