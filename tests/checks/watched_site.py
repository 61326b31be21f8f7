"""A web site on a loopback address that records requests, and how many came at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class WatchedSite:
    """Answers by path: `/status/503` with that, `/say/words` with those, `/hold` once it is let go.

    What is asked for while `is_away` is cut off.
    """

    def __init__(self) -> None:
        self.port = 0
        self.is_away = False
        self.asked: Counter[str] = Counter()
        self.held_count = self.most_held_count = 0
        self._changed = asyncio.Condition()
        self._may_go = asyncio.Event()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def let_go(self) -> None:
        """Answer what is held, and hold no more."""
        self._may_go.set()

    async def wait_until_held(self, count: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self.held_count >= count)

    async def wait_until_asked(self, path: str, times: int = 1) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self.asked[path] >= times)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ")[1].decode()
            async with self._changed:
                self.asked[path] += 1
                self._changed.notify_all()
            if not self.is_away:
                if path.startswith("/hold"):
                    await self._hold()
                writer.write(_write_answer(path))
                await writer.drain()
        writer.close()

    async def _hold(self) -> None:
        async with self._changed:
            self.held_count += 1
            self.most_held_count = max(self.most_held_count, self.held_count)
            self._changed.notify_all()
        await self._may_go.wait()
        self.held_count -= 1


def _write_answer(path: str) -> bytes:
    _, verb, *words = path.split("/")
    status = words[0] if verb == "status" else "200"
    body = "/".join(words).encode() if verb == "say" else b""
    return (
        f"HTTP/1.1 {status} Said\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
    )


@asynccontextmanager
async def watched_site() -> AsyncIterator[WatchedSite]:
    site = WatchedSite()
    server = await asyncio.start_server(site.answer, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        site.let_go()
        server.close()
