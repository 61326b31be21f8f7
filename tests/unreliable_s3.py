"""Simulates failures between the blog storage and an S3 server, on real sockets in the test's event loop."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    Converse = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
    Meddle = Callable[[asyncio.StreamWriter, bytes, bytes], Awaitable[None]]

LOST = (asyncio.IncompleteReadError, ConnectionError)


@asynccontextmanager
async def listening(converse: Converse) -> AsyncIterator[str]:
    """Accept connections until the block ends. Yield the endpoint's URL."""
    server = await asyncio.start_server(converse, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


@asynccontextmanager
async def answering(status: int, body: str = "") -> AsyncIterator[str]:
    """Respond to every request with a status."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(*LOST):
            await read_request(reader)
            head = f"HTTP/1.1 {status} -\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            writer.write(f"{head}{body}".encode())
            await writer.drain()
        writer.close()

    async with listening(converse) as endpoint:
        yield endpoint


@asynccontextmanager
async def hanging() -> AsyncIterator[str]:
    """Accept every connection, and never respond."""
    over = asyncio.Event()

    async def converse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await over.wait()
        writer.close()

    async with listening(converse) as endpoint:
        try:
            yield endpoint
        finally:
            over.set()


@asynccontextmanager
async def before(port: int, requests: list[bytes]) -> AsyncIterator[str]:
    """Forward everything to the server on a port, and record the header section of each request."""

    async def note(to_server: asyncio.StreamWriter, head: bytes, body: bytes) -> bool:
        requests.append(head)
        to_server.write(head + body)
        return True

    async with _standing_before(port, note) as endpoint:
        yield endpoint


@asynccontextmanager
async def between(port: int, on_put: Meddle) -> AsyncIterator[str]:
    """Forward everything to the server on a port, except for PUT requests, which `on_put` handles.

    `on_put` gets a connection to the server, the header section of the request, and the complete body. The
    client's connection is closed afterwards.
    """

    async def leave_puts(to_server: asyncio.StreamWriter, head: bytes, body: bytes) -> bool:
        if head.startswith(b"PUT "):
            await on_put(to_server, head, body)
            return False
        to_server.write(head + body)
        return True

    async with _standing_before(port, leave_puts) as endpoint:
        yield endpoint


@asynccontextmanager
async def _standing_before(
    port: int, pass_on: Callable[[asyncio.StreamWriter, bytes, bytes], Awaitable[bool]]
) -> AsyncIterator[str]:
    """Give each request to `pass_on`, until it reports that the connection is finished."""

    async def converse(client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        server, to_server = await asyncio.open_connection("127.0.0.1", port)
        answers = asyncio.create_task(_pass_on(server, to_client))
        with suppress(*LOST):
            while await pass_on(to_server, *await read_request(client)):
                pass
        answers.cancel()
        to_server.close()
        to_client.close()

    async with listening(converse) as endpoint:
        yield endpoint


async def read_status(reader: asyncio.StreamReader) -> int:
    return int((await reader.readline()).split()[1])


async def read_request(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    return head, await reader.readexactly(int(length[1]) if length else 0)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(65536):
        writer.write(chunk)
    writer.close()
