"""Sends requests as fast as the server responds, and checks every response.

`load.py` starts it as a separate process. Each JSON line of input is a load, and each JSON line of output is
the result. It implements HTTP itself, to use little CPU time on a machine with few cores.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sys
import time
from typing import TYPE_CHECKING, Any

import uvloop

if TYPE_CHECKING:
    from collections.abc import Iterator

SERIAL = b"0000000000"  # in each request, its own number replaces these ten digits

CHUNK_EDGE = re.compile(rb"\r\n[0-9a-f]+\r\n")

_serials = itertools.count(1)


class UnexpectedAnswer(Exception):  # noqa: N818 - an answer, not an error of ours
    """A response that differs from the expected response."""


class Load:
    """The load of one input line, and its results so far."""

    def __init__(self, wanted: dict[str, Any]) -> None:
        self.requests: Iterator[bytes] = itertools.cycle(
            [text.encode("latin-1") for text in wanted["requests"]]
        )
        self.shortest, self.longest = wanted["body_bytes"]
        self.expected = wanted["expected"].encode()
        self.ends_at: float = time.perf_counter() + wanted["seconds"]
        self.left: int = wanted["count"]
        self.latencies: list[float] = []

    def is_over(self) -> bool:
        """Return whether no request is left to send."""
        return self.left <= 0 or time.perf_counter() >= self.ends_at

    def next_request(self) -> bytes | None:
        """Return the next request to send, or None if no request is left."""
        if self.is_over():
            return None
        self.left -= 1
        request = next(self.requests)
        return request.replace(SERIAL, b"%010d" % next(_serials)) if SERIAL in request else request


class Connection(asyncio.Protocol):
    """Sends each request after the response to the previous one, until the server says that it will close."""

    def __init__(self, load: Load) -> None:
        self.closed = asyncio.get_running_loop().create_future()
        self._load = load
        self._received = b""
        self._sent_at = 0.0
        self._is_waiting = False

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def data_received(self, received: bytes) -> None:
        self._received += received
        head_end = self._received.find(b"\r\n\r\n")
        if head_end < 0:
            return
        head = self._received[:head_end].lower()
        length = self._find_length(head, head_end + 4)
        if length < 0:
            return
        expected = self._load.expected
        is_expected = not expected or expected in CHUNK_EDGE.sub(b"", self._received)
        is_long_enough = self._load.shortest <= length <= self._load.longest
        if not (head.startswith(b"http/1.1 2") and is_long_enough and is_expected):
            self._fail(self._received[:500].decode("latin-1"))
            return
        self._load.latencies.append(time.perf_counter() - self._sent_at)
        self._received = b""
        if b"\r\nconnection: close" in head:
            self._is_waiting = False
        else:
            self._send()

    def connection_lost(self, _: Exception | None) -> None:
        if self._is_waiting:
            self._fail("the connection was closed before the answer")
        elif not self.closed.done():
            self.closed.set_result(None)

    def _fail(self, reason: str) -> None:
        """End the load, and raise `UnexpectedAnswer` with a reason."""
        self._load.left = 0
        if not self.closed.done():
            self.closed.set_exception(UnexpectedAnswer(reason))

    def _find_length(self, head: bytes, body_at: int) -> int:
        """Return the body's length as sent, or a negative number while some of the body is missing."""
        have = len(self._received) - body_at
        length_at = head.find(b"\r\ncontent-length:")
        if length_at >= 0:
            length = int(head[length_at + 17 :].split(b"\r\n", 1)[0])
            return length if have >= length else -1
        return have if self._received.endswith(b"\r\n0\r\n\r\n") else -1  # a chunked body

    def _send(self) -> None:
        request = self._load.next_request()
        self._is_waiting = request is not None
        if request is None:
            self._transport.close()
        else:
            self._sent_at = time.perf_counter()
            self._transport.write(request)


async def send_over_one(load: Load, port: int) -> None:
    """Send requests over one connection at a time. Raises `UnexpectedAnswer`."""
    loop = asyncio.get_running_loop()
    while not load.is_over():
        _, connection = await loop.create_connection(lambda: Connection(load), "127.0.0.1", port)
        await connection.closed


async def run(wanted: dict[str, Any]) -> dict[str, Any]:
    """Send one load. Return the number of responses, the total time, and the time of each response."""
    load = Load(wanted)
    began_at = time.perf_counter()
    ports = itertools.islice(itertools.cycle(wanted["ports"]), wanted["connections"])
    try:
        await asyncio.gather(*(send_over_one(load, port) for port in ports))
    except UnexpectedAnswer as answer:
        return {"error": str(answer)}
    latencies = sorted(load.latencies)
    return {
        "count": len(latencies),
        "seconds": time.perf_counter() - began_at,
        "median_ms": latencies[len(latencies) // 2] * 1000,
        "p99_ms": latencies[len(latencies) * 99 // 100] * 1000,
    }


def main() -> None:
    """Process input lines until there are no more."""
    for line in sys.stdin:
        print(json.dumps(uvloop.run(run(json.loads(line)))), flush=True)


if __name__ == "__main__":
    main()
