"""A team's server, which breaks and recovers on command, and stores the notifications that it receives."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class UnsteadyServer(ThreadingHTTPServer):
    """An HTTP server on a free loopback port."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/"
        self.is_broken = False
        self.notifications: list[tuple[Mapping[str, str], bytes]] = []


class _Handler(BaseHTTPRequestHandler):
    server: UnsteadyServer

    def do_GET(self) -> None:
        self._answer(503 if self.server.is_broken else 200)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.notifications.append(
            ({name.lower(): value for name, value in self.headers.items()}, body)
        )
        self._answer(204)

    def log_message(self, *_: object) -> None:
        """Suppress request logs."""

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()


@contextmanager
def unsteady_server() -> Iterator[UnsteadyServer]:
    """Run a server until the block ends."""
    with UnsteadyServer() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server
        server.shutdown()
