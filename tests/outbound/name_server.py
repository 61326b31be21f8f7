"""A DNS server on loopback with the records that a test gives it (RFC 1035)."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_TYPES = {1: 4, 28: 6}  # A and AAAA, and the version of their addresses
_HEADER_BYTES = 12
_RESPONSE = 0x8180  # an answer, recursion desired and available
_NAME_ERROR = 3
_SERVER_FAILURE = 2


class NameServer(asyncio.DatagramProtocol):
    """Answers with `ttl_seconds`. A name without answers does not exist; None as its answers is silence."""

    def __init__(self) -> None:
        self.address = ""
        self.answers: dict[str, list[list[str]] | None] = {}
        self.broken: set[str] = set()
        self.ttl_seconds = 0
        self.questions: Counter[tuple[str, int]] = Counter()

    def know(self, name: str, *answers: list[str]) -> None:
        """Give a name its addresses; of several lists each is one answer, and the last stays."""
        self.answers[name] = list(answers)

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        self._transport = transport
        self.address = "{}:{}".format(*transport.get_extra_info("sockname"))

    def datagram_received(self, query: bytes, sender: tuple[str, int]) -> None:
        labels, position = [], _HEADER_BYTES
        while query[position]:
            labels.append(query[position + 1 : position + 1 + query[position]].decode())
            position += 1 + query[position]
        name = ".".join(labels).lower()
        kind = int.from_bytes(query[position + 1 : position + 3], "big")
        answers = self.answers.get(name, [])
        asked_before = self.questions[name, kind]
        self.questions[name, kind] += 1
        if answers is None:
            return
        addresses = answers[min(asked_before, len(answers) - 1)] if answers else []
        found = [ip_address(text) for text in addresses]
        records = [address.packed for address in found if address.version == _TYPES.get(kind)]
        code = _SERVER_FAILURE if name in self.broken else 0 if name in self.answers else _NAME_ERROR
        counts = (1, len(records), 0, 0)
        reply = query[:2] + (_RESPONSE | code).to_bytes(2, "big")
        reply += b"".join(number.to_bytes(2, "big") for number in counts)
        reply += query[_HEADER_BYTES : position + 5]
        for packed in records:
            reply += (
                b"\xc0\x0c"
                + kind.to_bytes(2, "big")
                + b"\0\1"
                + self.ttl_seconds.to_bytes(4, "big")
                + len(packed).to_bytes(2, "big")
            )
            reply += packed
        self._transport.sendto(reply, sender)


@asynccontextmanager
async def name_server() -> AsyncIterator[NameServer]:
    """Serve until the block ends."""
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(NameServer, local_addr=("127.0.0.1", 0))
    try:
        yield server
    finally:
        transport.close()
