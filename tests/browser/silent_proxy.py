"""A proxy between a browser and the service, which falls silent in each way that networks know."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSING = "passes everything on"
FROZEN = "accepts everything and passes nothing on"
AWAY = "hangs up"
BAD_GATEWAY = "answers 502"
ENDLESS = "begins an answer that never comes"
PORTAL = "answers with a page of its own"

_ANSWERS = {
    BAD_GATEWAY: b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    ENDLESS: b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n",
    PORTAL: b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 8\r\n\r\n<p>\n\n\n\n\n",
}
_PIECE_BYTES = 65_536


class SilentProxy:
    """Relays connections to a port of this machine, until it is told to behave otherwise."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._manner = PASSING
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def behave(self, manner: str) -> None:
        """Treat all connections so from now on. Those that are open are cut, unless they are to be frozen."""
        self._manner = manner
        if manner != FROZEN:
            self._cut()

    def close(self) -> None:
        """Serve no more."""
        self._manner = AWAY
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._cut()

    def _cut(self) -> None:
        for connection in tuple(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._treat, args=(connection,), daemon=True).start()

    def _treat(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            self._open.add(client)
            if self._manner == PASSING:
                with socket.create_connection(self._target) as service:
                    threading.Thread(target=self._relay, args=(service, client), daemon=True).start()
                    self._relay(client, service)
            elif self._manner != AWAY:
                client.recv(_PIECE_BYTES)
                client.sendall(_ANSWERS.get(self._manner, b""))
                while client.recv(_PIECE_BYTES):  # until one side hangs up
                    pass
        self._open.discard(client)

    def _relay(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(_PIECE_BYTES):
                if self._manner == PASSING:
                    target.sendall(piece)
            target.shutdown(socket.SHUT_RDWR)


@contextmanager
def running_proxy(port: int) -> Iterator[SilentProxy]:
    """Relay until the block ends."""
    proxy = SilentProxy(port)
    try:
        yield proxy
    finally:
        proxy.close()
