"""A script that Redis runs with every request."""

from __future__ import annotations

import asyncio
from hashlib import sha1
from typing import TYPE_CHECKING, Any

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis.asyncio import Redis
    from redis.asyncio.connection import AbstractConnection


# Further callers wait for a turn, which comes sooner than a new connection would.
MAX_CONNECTIONS = 32


class RedisScript:
    """A Lua script, and the connections over which it is run.

    They are redis-py's connections without its client: with every command the client looks after retries,
    events and the connection's health, which takes as long as the command does. Commands are written here,
    because redis-py takes a dozen calls for each word of one. A script should return one value, since
    redis-py reads each item of a list in a coroutine of its own.
    """

    def __init__(self, client: Redis, source: str, patience_seconds: float) -> None:
        self._pool = client.connection_pool
        source_bytes = source.encode()
        self._known = [b"EVALSHA", sha1(source_bytes, usedforsecurity=False).hexdigest().encode()]
        self._whole = [b"EVAL", source_bytes]
        self._patience_seconds = patience_seconds
        self._turns = asyncio.Semaphore(MAX_CONNECTIONS)
        self._idle: list[AbstractConnection] = []

    async def run(self, keys: Sequence[str], *arguments: int) -> Any:  # noqa: ANN401 - whatever it returns
        """Return what the script returns, text as bytes; it may have run twice.

        Waits up to `patience_seconds` for a turn, and as long for the answer. Raises `RedisError` or
        `OSError`.
        """
        if self._turns.locked():
            async with asyncio.timeout(self._patience_seconds):
                await self._turns.acquire()
        else:
            await self._turns.acquire()
        try:
            words = [b"%d" % len(keys), *map(str.encode, keys), *(b"%d" % each for each in arguments)]
            try:
                return await self._run(_write_command([*self._known, *words]))
            except NoScriptError:  # Redis has begun anew
                return await self._run(_write_command([*self._whole, *words]))
        finally:
            self._turns.release()

    async def close(self) -> None:
        """Hang up."""
        while self._idle:
            await self._idle.pop().disconnect(nowait=True)

    async def _run(self, command: bytes) -> Any:  # noqa: ANN401 - as above
        if self._idle:
            try:
                return await self._ask(self._idle.pop(), command)
            except RedisConnectionError:  # Redis has hung up, and may be back
                await self.close()
        connection: AbstractConnection = self._pool.make_connection()  # type: ignore[no-untyped-call]
        await connection.connect()  # type: ignore[no-untyped-call]
        connection.socket_timeout = None  # a timeout here would make a task for each command
        return await self._ask(connection, command)

    async def _ask(self, connection: AbstractConnection, command: bytes) -> Any:  # noqa: ANN401 - as above
        try:
            async with asyncio.timeout(self._patience_seconds):
                await connection.send_packed_command(command, check_health=False)
                answer = await connection.read_response(disable_decoding=True)  # bytes, whatever the URL says
        except BaseException as error:
            await connection.disconnect(nowait=True)
            if isinstance(error, Exception):  # silent, or no longer the primary: the same for the others
                await self.close()
            raise
        self._idle.append(connection)
        return answer


def _write_command(words: Sequence[bytes]) -> bytes:
    """Write an array of bulk strings (the Redis serialization protocol)."""
    return b"*%d\r\n%b" % (len(words), b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words))
