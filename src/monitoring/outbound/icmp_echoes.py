"""Sends ICMP echoes through the kernel's unprivileged sockets: icmp(7), `net.ipv4.ping_group_range`.

The kernel gives each socket its own identifier, writes the checksums, and delivers only replies.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from itertools import count
from secrets import token_bytes
from time import perf_counter

from monitoring.outbound.addresses import Address
from monitoring.outbound.failures import broken_off, is_ours

# The interval between echo requests. They are repeated because a packet may get lost. The command `ping` uses
# the same interval.
SECONDS_BETWEEN = 1.0
MAX_REPLY_BYTES = 2048

_HEADER = struct.Struct("!BBHHH")  # type, code, checksum, identifier, sequence number
_TOKEN_BYTES = 16

# For each IP version: family, protocol, and the types of a request and its reply (RFC 792, RFC 4443 §4)
_KINDS = {
    4: (socket.AF_INET, socket.IPPROTO_ICMP, 8, 0),
    6: (socket.AF_INET6, socket.IPPROTO_ICMPV6, 128, 129),
}


def may_ping() -> bool:
    """Return whether the kernel lets this process send pings. Raises OSError if no socket is left."""
    family, protocol, _, _ = _KINDS[4]
    try:
        socket.socket(family, socket.SOCK_DGRAM, protocol).close()
    except PermissionError:
        return False
    return True


async def ping(address: Address) -> float:
    """Send an echo request every second until a reply arrives, and return its round trip in milliseconds.

    This has no timeout, so the caller must set one. Raises ExchangeFailed, PermissionError if the kernel does
    not permit pings, and OSError when this machine has no sockets left.
    """
    family, protocol, request, reply = _KINDS[address.version]
    with socket.socket(family, socket.SOCK_DGRAM, protocol) as pinging:
        pinging.setblocking(False)  # noqa: FBT003
        try:
            pinging.connect((str(address), 0))
            return await _wait_for_echo(pinging, request, reply)
        except OSError as error:
            if is_ours(error):
                raise
            raise broken_off("The host cannot be reached") from None


async def _wait_for_echo(pinging: socket.socket, request: int, reply: int) -> float:
    token = token_bytes(_TOKEN_BYTES)
    sent_at: dict[int, float] = {}
    for number in count():
        sent_at[number] = perf_counter()
        pinging.send(_HEADER.pack(request, 0, 0, 0, number) + token)
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS_BETWEEN):
                while True:
                    answer = await asyncio.get_running_loop().sock_recv(pinging, MAX_REPLY_BYTES)
                    answered_at = perf_counter()
                    kind, _, _, _, echoed = _HEADER.unpack_from(answer)
                    if kind == reply and echoed in sent_at and answer[_HEADER.size :] == token:
                        return (answered_at - sent_at[echoed]) * 1000
    raise AssertionError("there is always another number")
