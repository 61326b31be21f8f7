"""A script that Redis runs with every request."""

from __future__ import annotations

import asyncio
from hashlib import sha1
from typing import TYPE_CHECKING

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError

from monitoring.backends.redis_line import RedisLine, write_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis.asyncio import Redis
    from redis.asyncio.connection import AbstractConnection


class RedisScript:
    """A Lua script that returns a status reply, and the line over which it is run.

    redis-py opens the connection, with all that a URL may say, and hands it over: for each command its client
    looks after retries, events and the connection's health, and its connections have a reader, a timer and a
    dozen calls, which takes many times as long as the command does.
    """

    def __init__(self, client: Redis, source: str, patience_seconds: float) -> None:
        self._pool = client.connection_pool
        source_bytes = source.encode()
        self._known = [b"EVALSHA", sha1(source_bytes, usedforsecurity=False).hexdigest().encode()]
        self._whole = [b"EVAL", source_bytes]
        self._patience_seconds = patience_seconds
        self._connection: AbstractConnection | None = None
        self._line: RedisLine | None = None
        self._opening: asyncio.Task[RedisLine] | None = None

    async def run(self, keys: Sequence[str], *arguments: int) -> bytes:
        """Return what the script returns; it may have run twice.

        Waits up to `patience_seconds` for the answer, and as long for a connection. Raises `RedisError` or
        `OSError`.
        """
        words = [b"%d" % len(keys), *map(str.encode, keys), *(b"%d" % each for each in arguments)]
        try:
            return await self._ask(write_command([*self._known, *words]))
        except NoScriptError:  # Redis has begun anew
            return await self._ask(write_command([*self._whole, *words]))

    async def close(self) -> None:
        """Hang up."""
        if self._opening:
            await asyncio.wait([self._opening])
        if self._connection:
            await self._connection.disconnect(nowait=True)

    async def _ask(self, command: bytes) -> bytes:
        if self._line and not self._line.has_ended:
            try:
                return await self._line.ask(command)
            except RedisConnectionError:  # Redis has hung up, and may be back
                pass
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        line = await asyncio.shield(self._opening)
        return await line.ask(command)

    async def _open(self) -> RedisLine:
        try:
            if self._connection:
                await self._connection.disconnect(nowait=True)
            self._connection = connection = self._pool.make_connection()  # type: ignore[no-untyped-call]
            await connection.connect()
            self._line = RedisLine(connection._writer.transport, self._patience_seconds)  # noqa: SLF001
            return self._line
        finally:
            self._opening = None
