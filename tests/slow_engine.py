"""A slow LibreTranslate server, which responds on command, with text that is not English."""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class SlowEngine:
    """Counts requests that wait for a translation. `answer` releases these requests and all later ones."""

    def __init__(self) -> None:
        self.waiting_count = 0
        self._counting = threading.Lock()
        self._answering = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.environment = {
            "TRANSLATOR": "libretranslate",
            "TRANSLATOR_URL": f"http://127.0.0.1:{self._server.server_port}",
        }

    def answer(self) -> None:
        self._answering.set()

    def run(self) -> None:
        self._server.serve_forever(poll_interval=0.05)

    def stop(self) -> None:
        self.answer()
        self._server.shutdown()
        self._server.server_close()

    def wait(self) -> None:
        with self._counting:
            self.waiting_count += 1
        self._answering.wait()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        engine = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._reply([{"code": "en", "name": "English", "targets": ["en", "es", "pt"]}])

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                engine.wait()
                self._reply({"translatedText": [re.sub(r"(\w)\b", r"\1o", text) for text in asked["q"]]})

            def _reply(self, value: Any) -> None:
                body = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def handle(self) -> None:
                with suppress(OSError):  # the client has been stopped
                    super().handle()

            def log_message(self, *_: object) -> None: ...

        return Handler


@contextmanager
def slow_engine() -> Iterator[SlowEngine]:
    engine = SlowEngine()
    thread = threading.Thread(target=engine.run)
    thread.start()
    try:
        yield engine
    finally:
        engine.stop()
        thread.join()
