"""A web server to check, which returns 1 KB over http and https. It runs on loopback, in its own process.

python benchmarks/checked_server.py CERTIFICATE
"""

from __future__ import annotations

import asyncio
import ssl
import sys
from typing import Any

import uvloop

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1024\r\n\r\n" + b"x" * 1024


class Answering(asyncio.Protocol):
    """Sends the same response to every request."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, received: bytes) -> None:
        if received.endswith(b"\r\n\r\n"):
            self._transport.write(ANSWER)


async def serve(certificate: str) -> None:
    """Serve on two ports that the kernel chooses, and print them."""
    loop = asyncio.get_running_loop()
    secured = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secured.load_cert_chain(certificate)
    for name, context in {"https": secured, "running": None}.items():
        server = await loop.create_server(Answering, "127.0.0.1", 0, ssl=context, backlog=4096)
        print(f"{name} on http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await loop.create_future()


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1]))
