"""Sends exact bytes of HTTP over a plain socket, and serves an application to send them to."""

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import BinaryIO, Protocol

import uvicorn
from starlette.types import Receive, Scope, Send

from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import Json
from monitoring.web.connection_limits import ConnectionLimits
from monitoring.web.uvicorn_bridge import protocol_for

TIMEOUT_SECONDS = 10

Address = tuple[str, int]


class ServedApp(Protocol):
    """An application with errors for requests that never reach it."""

    catalogue: Catalogue

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...


@dataclass(frozen=True)
class Answer:
    """A response. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        return json.loads(self.body)


def request(method: str, target: str, *headers: str, body: bytes = b"") -> bytes:
    """Return the bytes of a request.

    A Content-Length is added for a body, unless a header already frames it.
    """
    framed = any(header.lower().startswith(("content-length", "transfer-encoding")) for header in headers)
    length = [f"Content-Length: {len(body)}"] if body and not framed else []
    head = "\r\n".join([f"{method} {target} HTTP/1.1", "Host: test", *headers, *length])
    return head.encode("latin-1") + b"\r\n\r\n" + body


def chunked(*chunks: bytes) -> bytes:
    """Return a body in chunked encoding."""
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


def exchange(address: Address, *pieces: bytes) -> Answer:
    """Send pieces one at a time on a new connection, and read one response."""
    with connect(address) as connection:
        with suppress(ConnectionError):  # a refusing server may close before it has read everything
            for piece in pieces:
                connection.sendall(piece)
        return read_answer(connection, has_body=not pieces[0].startswith(b"HEAD "))


@contextmanager
def connect(address: Address) -> Iterator[socket.socket]:
    """Open a connection that sends each piece immediately."""
    with socket.create_connection(address, timeout=TIMEOUT_SECONDS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield connection


def read_answer(connection: socket.socket, *, has_body: bool = True) -> Answer:
    """Read one response, framed by Content-Length. Skip an interim response `100 Continue`."""
    with connection.makefile("rb") as stream:
        status = int(stream.readline().split()[1])
        headers = _read_headers(stream)
        if status == 100:
            status, headers = int(stream.readline().split()[1]), _read_headers(stream)
        length = int(headers.get("content-length", 0)) if has_body else 0
        return Answer(status, headers, stream.read(length))


def _read_headers(stream: BinaryIO) -> dict[str, str]:
    lines = iter(lambda: stream.readline().decode("latin-1").strip(), "")
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


@contextmanager
def served(app: ServedApp, limits: ConnectionLimits | None = None) -> Iterator[Address]:
    """Serve an application as `monitoring serve` does, in a thread with its own event loop."""
    limits = limits or ConnectionLimits()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            app,
            http=protocol_for(app.catalogue, limits),
            log_config=None,
            lifespan="on",
            timeout_keep_alive=limits.keep_alive_seconds,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[:2]
        finally:
            server.should_exit = True
            thread.join(TIMEOUT_SECONDS)
