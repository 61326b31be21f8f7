"""One connection to Redis for all callers: commands that are ready at the same time leave together."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, ResponseError

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINE_END = b"\r\n"


class RedisLine(asyncio.Protocol):
    """Sends commands and gives each caller its answer, which must be a simple string (RESP).

    Redis answers in the order of the commands. Whatever else it sends ends the connection, as does a silence
    of `patience_seconds`.
    """

    def __init__(self, transport: asyncio.Transport, patience_seconds: float) -> None:
        self._transport = transport
        self._patience_seconds = patience_seconds
        self._loop = asyncio.get_running_loop()
        self._unsent: list[bytes] = []
        self._asked: deque[tuple[asyncio.Future[bytes], float]] = deque()
        self._rest = b""
        self._look: asyncio.TimerHandle | None = None
        transport.set_protocol(self)

    @property
    def has_ended(self) -> bool:
        """Whether the connection is of no more use."""
        return self._transport.is_closing()

    def ask(self, command: bytes) -> asyncio.Future[bytes]:
        """Send a command after this turn of the loop. The answer may be a `RedisError` or an `OSError`."""
        answer = self._loop.create_future()
        self._asked.append((answer, self._loop.time()))
        if not self._unsent:
            self._loop.call_soon(self._send)
        self._unsent.append(command)
        if self._look is None:
            self._look = self._loop.call_later(self._patience_seconds, self._end_if_silent)
        return answer

    def end(self, error: Exception) -> None:
        """Hang up. Whoever waits for an answer gets the error."""
        self._transport.abort()
        if self._look:
            self._look.cancel()
        while self._asked:
            answer, _ = self._asked.popleft()
            if not answer.done():
                answer.set_exception(error)

    def data_received(self, data: bytes) -> None:
        """Give answers to those who wait for them."""
        *answers, self._rest = (self._rest + data).split(_LINE_END)
        for answer in answers:
            if not self._asked:
                self.end(RedisConnectionError("an answer that nobody asked for"))
                return
            self._settle(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let callers know."""
        self.end(exc or RedisConnectionError("Redis has hung up"))

    def _send(self) -> None:
        self._transport.write(b"".join(self._unsent))
        self._unsent.clear()

    def _settle(self, answer: bytes) -> None:
        future, _ = self._asked.popleft()
        if future.done():  # the caller has gone
            return
        if answer.startswith(b"+"):
            future.set_result(answer[1:])
        elif answer.startswith(b"-NOSCRIPT"):
            future.set_exception(NoScriptError())
        else:  # it may be no longer the primary: the same for the others
            error = ResponseError(answer.decode(errors="replace"))
            future.set_exception(error)
            self.end(error)

    def _end_if_silent(self) -> None:
        self._look = None
        if not self._asked:
            return
        _, asked_at = self._asked[0]
        seconds_left = asked_at + self._patience_seconds - self._loop.time()
        if seconds_left > 0:
            self._look = self._loop.call_later(seconds_left, self._end_if_silent)
        else:
            self.end(TimeoutError("Redis does not answer"))


def write_command(words: Sequence[bytes]) -> bytes:
    """Write an array of bulk strings (the Redis serialization protocol)."""
    return b"*%d\r\n%b" % (len(words), b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words))
