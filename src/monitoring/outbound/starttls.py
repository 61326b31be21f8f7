"""Upgrades unencrypted SMTP, IMAP and PostgreSQL connections to TLS."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from monitoring.outbound.failures import ExchangeFailed, FailureCode, broken_off, invalid
from monitoring.outbound.listening import Listener

# A function that requests TLS, and returns when the server expects the handshake. Raises ExchangeFailed.
AskForTls: TypeAlias = Callable[[asyncio.Transport, Listener], Awaitable[None]]

MAX_LINE_BYTES = 8192  # IMAP's limit (RFC 7162 §4). SMTP's limit is lower.
MAX_LINES = 100

# The request for TLS (PostgreSQL, "Message Formats": SSLRequest): its length in bytes, and its code
_SSL_REQUEST = (8).to_bytes(4, "big") + (80877103).to_bytes(4, "big")

_SMTP_READY = b"220"
_SMTP_OK = b"250"


async def ask_smtp(transport: asyncio.Transport, server: Listener) -> None:
    """Send EHLO and STARTTLS (RFC 3207)."""
    if not (await _read_reply(server))[0].startswith(_SMTP_READY):
        raise _unwilling("SMTP")
    # This IP address reveals nothing about this machine (RFC 5321 §4.1.3). Mail programs also send it.
    transport.write(b"EHLO [127.0.0.1]\r\n")
    offers = await _read_reply(server)
    if not offers[0].startswith(_SMTP_OK):
        raise _unwilling("SMTP")
    if not any(line[4:].split()[:1] == [b"STARTTLS"] for line in map(bytes.upper, offers)):
        raise _no_starttls()
    transport.write(b"STARTTLS\r\n")
    if not (await _read_reply(server))[0].startswith(_SMTP_READY):
        raise _no_starttls()


async def ask_imap(transport: asyncio.Transport, server: Listener) -> None:
    """Send STARTTLS (RFC 9051 §6.2.1)."""
    if not (await _read_line(server, "IMAP")).upper().startswith(b"* OK"):
        raise _unwilling("IMAP")
    transport.write(b"a STARTTLS\r\n")
    for _ in range(MAX_LINES):
        line = await _read_line(server, "IMAP")
        if not line.startswith(b"* "):
            break
    else:
        raise _not("IMAP")
    if not line.upper().startswith(b"A OK"):
        raise _no_starttls()


async def ask_postgresql(transport: asyncio.Transport, server: Listener) -> None:
    """Send an SSLRequest (PostgreSQL, "SSL Session Encryption")."""
    transport.write(_SSL_REQUEST)
    try:
        answer = await server.read_exactly(1)
    except asyncio.IncompleteReadError:
        raise _hung_up() from None
    if answer == b"N":
        raise _no_starttls()
    if answer != b"S":
        raise _not("PostgreSQL")


# The keys are the protocols' names in the OpenAPI document
STARTTLS: Mapping[str, AskForTls] = {"smtp": ask_smtp, "imap": ask_imap, "postgresql": ask_postgresql}


async def _read_reply(server: Listener) -> list[bytes]:
    """Read an SMTP reply's lines. All but the last have a hyphen after the code (RFC 5321 §4.2.1)."""
    lines = []
    for _ in range(MAX_LINES):
        lines.append(await _read_line(server, "SMTP"))
        if not lines[-1][:3].isdigit():
            break
        if lines[-1][3:4] != b"-":
            return lines
    raise _not("SMTP")


async def _read_line(server: Listener, protocol: str) -> bytes:
    try:
        return (await server.read_until(b"\n", MAX_LINE_BYTES)).rstrip(b"\r\n")
    except asyncio.LimitOverrunError:
        raise _not(protocol) from None
    except asyncio.IncompleteReadError:
        raise _hung_up() from None


def _no_starttls() -> ExchangeFailed:
    return ExchangeFailed(FailureCode.TLS_INVALID, "The server does not offer STARTTLS on this port")


def _hung_up() -> ExchangeFailed:
    return broken_off("The connection was closed before an answer came")


def _unwilling(protocol: str) -> ExchangeFailed:
    return invalid(f"The server is not ready to speak {protocol}")


def _not(protocol: str) -> ExchangeFailed:
    return invalid(f"The answer is not {protocol}")
