"""Servers on loopback that answer with exactly the bytes a test wants, and record requests."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Callable

    # Bytes are sent at once and the connection is closed; an iterator is sent until it ends or nobody reads.
    Script = bytes | Callable[[], AsyncIterator[bytes]]

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def answer(status: str = "200 OK", *headers: str, body: bytes = b"") -> bytes:
    """Write an answer with its length."""
    head = "\r\n".join([f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""])
    return head.encode("latin-1") + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    return answer(status, f"Location: {location}")


async def silence() -> AsyncIterator[bytes]:
    """Say nothing, and stay."""
    await asyncio.Event().wait()
    yield b""


def then_silence(*pieces: bytes) -> Callable[[], AsyncIterator[bytes]]:
    """Say something, and stay."""

    async def say() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece
        await asyncio.Event().wait()

    return say


def forever(first: bytes, repeated: bytes) -> Callable[[], AsyncIterator[bytes]]:
    """Begin, and then repeat oneself as fast as it is read."""

    async def say() -> AsyncIterator[bytes]:
        yield first
        while True:
            yield repeated

    return say


def dripping(first: bytes, repeated: bytes) -> Callable[[], AsyncIterator[bytes]]:
    """Begin, and then repeat oneself slowly: no pause is long, and there is no end."""

    async def say() -> AsyncIterator[bytes]:
        yield first
        while True:
            await asyncio.sleep(0.01)
            yield repeated

    return say


class ScriptedServer:
    """Answers each path with its script, and every other path with 200."""

    def __init__(self, host: str, port: int, scheme: str) -> None:
        self.host = host
        self.port = port
        self.url = f"{scheme}://{host}:{port}"
        self.scripts: dict[str, Script] = {}
        self.requests: list[bytes] = []
        self.connections = 0
        self.open_connections: set[asyncio.StreamWriter] = set()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open_connections.add(writer)
        with suppress(OSError, asyncio.IncompleteReadError):
            await self._answer(reader, writer)
        self.open_connections.discard(writer)
        writer.transport.abort() if writer.is_closing() else writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        self.requests.append(head + await reader.readexactly(int(length or 0)))
        script = self.scripts.get(head.split()[1].decode(), OK)
        if isinstance(script, bytes):
            writer.write(script)
            await writer.drain()
            return
        sending = asyncio.ensure_future(self._send(script, writer))
        leaving = asyncio.ensure_future(reader.read())
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        for task in (sending, leaving):
            task.cancel()
        await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send(self, script: Callable[[], AsyncIterator[bytes]], writer: asyncio.StreamWriter) -> None:
        async for piece in script():
            writer.write(piece)
            await writer.drain()


@asynccontextmanager
async def scripted_server(
    host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[ScriptedServer]:
    """Serve until the block ends."""
    conversations: list[ScriptedServer] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await conversations[0].talk(reader, writer)

    listener = await asyncio.start_server(talk, host, port, ssl=tls, backlog=1024)
    actual_port = listener.sockets[0].getsockname()[1]
    conversations.append(ScriptedServer(host, actual_port, "https" if tls else "http"))
    try:
        yield conversations[0]
    finally:
        listener.close()
        for writer in list(conversations[0].open_connections):
            writer.transport.abort()


@asynccontextmanager
async def impolite_server(
    talk: Callable[[asyncio.StreamWriter], None], tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """Do to each connection what `talk` says, whatever is asked on it; yields the port on 127.0.0.2."""
    taken: list[asyncio.StreamWriter] = []

    def take(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken.append(writer)
        talk(writer)

    listener = await asyncio.start_server(take, "127.0.0.2", 0, ssl=tls)
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()
        for writer in taken:
            writer.transport.abort()
