"""Sends requests as fast as they are answered, and looks at every answer: the other side of a measurement.

A process of its own, started by `load.py`: one JSON line in is one load, one JSON line out what came of it.
It speaks HTTP itself, so that on a machine with few cores it takes little from who is measured.
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

SERIAL = b"0000000000"  # where a request has these ten digits, each one sent has a number of its own

CHUNK_EDGE = re.compile(rb"\r\n[0-9a-f]+\r\n")

_serials = itertools.count(1)


class UnexpectedAnswer(Exception):  # noqa: N818 - an answer, not an error of ours
    """An answer that is not what was asked for."""


class Load:
    """What one line asks for, and what has come of it so far."""

    def __init__(self, wanted: dict[str, Any]) -> None:
        self.requests: Iterator[bytes] = itertools.cycle(
            [text.encode("latin-1") for text in wanted["requests"]]
        )
        self.shortest, self.longest = wanted["body_bytes"]
        self.expected = wanted["expected"].encode()
        self.ends_at = time.perf_counter() + wanted["seconds"]
        self.left = wanted["count"]
        self.open_count = wanted["connections"]
        self.latencies: list[float] = []
        self.finished = asyncio.get_running_loop().create_future()

    def next_request(self) -> bytes | None:
        """Return what to send next, if anything."""
        if self.left <= 0 or time.perf_counter() >= self.ends_at:
            return None
        self.left -= 1
        request = next(self.requests)
        return request.replace(SERIAL, b"%010d" % next(_serials)) if SERIAL in request else request

    def fail(self, reason: str) -> None:
        """End with a reason, the first of which counts."""
        self.left = 0
        if not self.finished.done():
            self.finished.set_exception(UnexpectedAnswer(reason))

    def leave(self) -> None:
        """Take one connection off; the last one ends the load."""
        self.open_count -= 1
        if not self.open_count and not self.finished.done():
            self.finished.set_result(None)


class Connection(asyncio.Protocol):
    """Sends one request after the other, each when the one before is answered."""

    def __init__(self, load: Load) -> None:
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
            self._load.fail(self._received[:500].decode("latin-1"))
        self._load.latencies.append(time.perf_counter() - self._sent_at)
        self._received = b""
        self._send()

    def connection_lost(self, _: Exception | None) -> None:
        if self._is_waiting:
            self._load.fail("the connection was closed before the answer")
        self._load.leave()

    def _find_length(self, head: bytes, body_at: int) -> int:
        """Return the length of the body, as sent; below zero while some of it is missing."""
        have = len(self._received) - body_at
        length_at = head.find(b"\r\ncontent-length:")
        if length_at >= 0:
            length = int(head[length_at + 17 :].split(b"\r\n", 1)[0])
            return length if have >= length else -1
        return have if self._received.endswith(b"\r\n0\r\n\r\n") else -1  # in chunks

    def _send(self) -> None:
        request = self._load.next_request()
        self._is_waiting = request is not None
        if request is None:
            self._transport.close()
        else:
            self._sent_at = time.perf_counter()
            self._transport.write(request)


async def run(wanted: dict[str, Any]) -> dict[str, Any]:
    """Send one load and tell how many answers came, in which time, and how long they took."""
    loop = asyncio.get_running_loop()
    load = Load(wanted)
    began_at = time.perf_counter()
    for number in range(wanted["connections"]):
        port = wanted["ports"][number % len(wanted["ports"])]
        await loop.create_connection(lambda: Connection(load), "127.0.0.1", port)
    try:
        await load.finished
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
    """Serve lines until there are no more."""
    for line in sys.stdin:
        print(json.dumps(uvloop.run(run(json.loads(line)))), flush=True)


if __name__ == "__main__":
    main()
