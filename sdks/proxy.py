"""A proxy between a program and the service, which can spoil requests and answers."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HOP_BY_HOP = {"connection", "content-length", "host", "http2-settings", "transfer-encoding", "upgrade"}


def forward(request: httpx.Request) -> httpx.Response:
    """Send a request on to the service."""
    with httpx.Client(timeout=60) as client:
        return client.send(request)


@contextmanager
def proxy(service_url: str, answer: Callable[[httpx.Request], httpx.Response | None]) -> Iterator[str]:
    """Serve answers until the block ends, and yield the address. None as answer closes the connection."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(service_url, answer))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _handler_of(
    service_url: str, answer: Callable[[httpx.Request], httpx.Response | None]
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
            url = service_url + self.path
            response = answer(httpx.Request(self.command, url, headers=headers, content=self._read_body()))
            if response is None:
                self.close_connection = True
                return
            self.send_response(response.status_code)
            for name, value in response.headers.items():
                if name not in HOP_BY_HOP:
                    self.send_header(name, value)
            if response.status_code != httpx.codes.NO_CONTENT:
                self.send_header("Content-Length", str(len(response.content)))
            self.end_headers()
            self.wfile.write(response.content)

        do_GET = do_POST = do_PATCH = do_DELETE = handle_any  # noqa: N815 - the names http.server looks for

        def _read_body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    return Handler
