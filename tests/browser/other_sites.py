"""Somebody else's web server on this machine: another origin, and under another host name another site."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class OtherSite:
    """Serves one page at every path."""

    def __init__(self, port: int) -> None:
        self.page = ""
        # Cookies ignore ports, so the first is the service's own site and the second is not.
        self.same_site_url = f"http://127.0.0.1:{port}/"
        self.cross_site_url = f"http://localhost:{port}/"


@contextmanager
def running_other_site() -> Iterator[OtherSite]:
    """Serve until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(site.page.encode())

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = OtherSite(server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
