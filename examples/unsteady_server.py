"""A server that breaks and recovers on command, and prints the notifications it gets. Needs only Python 3.9+.

    python3 examples/unsteady_server.py 9100

GET /health is what to monitor; POST /break and POST /heal change what it answers. POST /hooks takes
notifications, and verifies them (https://www.standardwebhooks.com) when WEBHOOK_SECRET is the secret that
registering answered.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class UnsteadyHandler(BaseHTTPRequestHandler):
    """Answers every request. `is_broken` belongs to the server."""

    protocol_version = "HTTP/1.1"
    is_broken = False

    def do_GET(self) -> None:
        """Answer as a healthy or broken server."""
        if self.path != "/health":
            self._answer(404, "Not here")
        elif UnsteadyHandler.is_broken:
            self._answer(503, "Broken")
        else:
            self._answer(200, "Fine")

    def do_POST(self) -> None:
        """Break, recover, or receive a notification."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path in ("/break", "/heal"):
            UnsteadyHandler.is_broken = self.path == "/break"
            self._answer(200, "Broken now" if self.is_broken else "Fine again")
        elif self.path == "/hooks":
            self._take_notification(body)
        else:
            self._answer(404, "Not here")

    def _take_notification(self, body: bytes) -> None:
        secret = os.environ.get("WEBHOOK_SECRET")
        if secret and not self._is_signed(body, secret):
            self._answer(401, "Wrong signature")
            return
        notification = json.loads(body)
        monitor = notification["data"].get("monitor", {}).get("name", "")
        print(notification["timestamp"], notification["type"], monitor, flush=True)
        self._answer(200, "Thank you")

    def _is_signed(self, body: bytes, secret: str) -> bool:
        signed = b".".join(
            [self.headers["webhook-id"].encode(), self.headers["webhook-timestamp"].encode(), body]
        )
        key = base64.b64decode(secret.split("_", 1)[1])
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        return hmac.compare_digest(self.headers["webhook-signature"], f"v1,{expected}")

    def _answer(self, status: int, text: str) -> None:
        body = f"{text}\n".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in http.server
        """Log nothing: the handlers print what matters."""


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9100
    server = ThreadingHTTPServer(("127.0.0.1", port), UnsteadyHandler)
    print(f"Listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
