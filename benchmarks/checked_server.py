"""The web server that is checked: 1 KB over http and https, on loopback, in its own process.

Two more ports speak TLS but resume no session: one forgets its tickets at once, the other gives none.

python benchmarks/checked_server.py CERTIFICATE
"""

from __future__ import annotations

import asyncio
import ssl
import sys
from itertools import cycle
from typing import TYPE_CHECKING, Any, TypeVar

import uvloop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Context = TypeVar("Context", bound=ssl.SSLContext)

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1024\r\n\r\n" + b"x" * 1024


class Answering(asyncio.Protocol):
    """Gives every request head the same answer."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, received: bytes) -> None:
        if received.endswith(b"\r\n\r\n"):
            self._transport.write(ANSWER)


class Forgetful(ssl.SSLContext):
    """Takes turns with others, whose keys for tickets are different."""

    others: Iterator[ssl.SSLContext]

    def wrap_bio(self, *given: Any, **options: Any) -> ssl.SSLObject:
        return next(self.others).wrap_bio(*given, **options)


def secure(kind: Callable[[int], Context], certificate: str) -> Context:
    """Make a context with the certificate."""
    context = kind(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


async def serve(certificate: str) -> None:
    """Serve on two ports that the kernel chooses, and print them."""
    loop = asyncio.get_running_loop()
    forgetful, ticketless = secure(Forgetful, certificate), secure(ssl.SSLContext, certificate)
    forgetful.others = cycle([secure(ssl.SSLContext, certificate) for _ in range(61)])
    ticketless.num_tickets = 0
    contexts = {
        "https": secure(ssl.SSLContext, certificate),
        "forgetful https": forgetful,
        "ticketless https": ticketless,
        "running": None,
    }
    servers = [
        await loop.create_server(Answering, "127.0.0.1", 0, ssl=context, backlog=4096)
        for context in contexts.values()
    ]
    for name, server in zip(contexts, servers, strict=True):
        print(f"{name} on http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await loop.create_future()


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1]))
