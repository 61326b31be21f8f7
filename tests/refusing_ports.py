"""Reserves ports that refuse every connection even if a server listens, because another program closes them.

The kernel assigns such ports to servers like any other port. A test with such a server would fail or wait
forever.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

LOOPBACK = "127.0.0.1"
EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")

_held: list[socket.socket] = []


def hold_refusing_ports() -> None:
    """Bind the refusing loopback ports until this process ends, so that no server gets one."""
    first, last = map(int, EPHEMERAL.read_text().split())
    for port in range(first, last + 1):
        with suppress(OSError):  # the port is in use
            if _refuses(port):
                held = socket.socket()
                held.bind((LOOPBACK, port))
                _held.append(held)


def _refuses(port: int) -> bool:
    with socket.create_server((LOOPBACK, port)), socket.socket() as client:
        return client.connect_ex((LOOPBACK, port)) != 0
