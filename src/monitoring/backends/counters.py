"""Rate-limit windows, shared through Redis. While Redis is away every process counts for itself.

The same round trip brings what all processes must know at once: a mark, which `announce` changes.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict, defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from monitoring.backends.outage import Breaker
from monitoring.backends.redis_address import outage_of_redis
from monitoring.backends.redis_script import RedisScript
from monitoring.settings import RateLimitPolicy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from pydantic import SecretStr
    from redis.asyncio.connection import AbstractConnection

__all__ = ["Allowance", "Counters", "Mark", "RateLimitPolicy", "open_counters"]

TIMEOUT_SECONDS = 0.25
MAX_WINDOWS = 100_000

_MARK = "monitoring:mark"

# Count, start the window at the first hit, and return what is left of it and the mark: one atomic round trip.
# If Redis lost everything, the mark too, it makes a mark that there has never been.
_HIT = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
local mark = redis.call('GET', KEYS[2])
if not mark then
  mark = table.concat(redis.call('TIME'), '.')
  redis.call('SET', KEYS[2], mark)
end
return redis.status_reply(table.concat({count, redis.call('PTTL', KEYS[1]), mark}, ' '))
"""

# The mark that Redis returned, and the number of the connection: Redis may lose its data with a connection.
Mark = tuple[int, bytes]


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a policy still allows after this hit. `reset_seconds` is rounded up: never too early.

    Nothing was announced between two hits with the same mark. The mark is None without Redis.
    """

    policy: RateLimitPolicy
    allowed: bool
    remaining: int
    reset_seconds: int
    mark: Mark | None

    def headers(self) -> dict[str, str]:
        """Write `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers)."""
        policy = self.policy
        return {
            "RateLimit": f'"{policy.name}";r={self.remaining};t={self.reset_seconds}',
            "RateLimit-Policy": f'"{policy.name}";q={policy.limit};w={policy.window_seconds}',
        }


class Counters:
    """Counts hits in windows that start with their first hit. Never fails and never waits long."""

    def __init__(
        self, redis_url: SecretStr | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._memory = _MemoryWindows(clock)
        self._outage = outage_of_redis(redis_url.get_secret_value()) if redis_url else None
        self._breaker = Breaker(clock)
        self._connections = 0
        self._client = redis_url and redis.asyncio.Redis.from_url(
            redis_url.get_secret_value(),
            socket_connect_timeout=TIMEOUT_SECONDS,
            socket_timeout=TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
            redis_connect_func=self._begin_connection,
        )
        self._script = self._client and RedisScript(self._client, _HIT, TIMEOUT_SECONDS)

    async def hit(self, policy: RateLimitPolicy, key: str) -> Allowance:
        """Count one request under the key and say whether it is still within the policy."""
        count, reset_seconds, mark = await self._count(policy, key)
        return Allowance(
            policy=policy,
            allowed=count <= policy.limit,
            remaining=max(0, policy.limit - count),
            # Rounding can make the rest of a window a hair longer than the window.
            reset_seconds=max(1, min(policy.window_seconds, math.ceil(reset_seconds))),
            mark=mark,
        )

    async def announce(self) -> bool:
        """Change the mark of every hit from now on, in all processes. False if there is no Redis to tell."""
        if not self._client:
            return False
        try:
            await self._client.set(_MARK, uuid4().hex)
        except (RedisError, OSError):
            return False
        return True

    async def close(self) -> None:
        """Hang up."""
        if self._script and self._client:
            await self._script.close()
            await self._client.aclose()

    async def _count(self, policy: RateLimitPolicy, key: str) -> tuple[int, float, Mark | None]:
        if self._script and self._outage and self._breaker.may_try():
            keys = [f"monitoring:rate:{policy.name}:{key}", _MARK]
            try:
                answer = await self._script.run(keys, policy.window_seconds * 1000)
            except (RedisError, OSError) as error:
                self._breaker.open()
                self._outage.begin(error)
            else:
                self._breaker.close()
                self._outage.end()
                count, ttl_ms, mark = answer.split(b" ", 2)
                return int(count), int(ttl_ms) / 1000, (self._connections, mark)
        return *self._memory.hit(policy, key), None

    async def _begin_connection(self, connection: AbstractConnection) -> None:
        self._connections += 1
        await connection.on_connect()


class _MemoryWindows:
    """Windows of one process. A policy's windows end in the order they began, so clearing needs no search.

    A policy has at most `MAX_WINDOWS`. Beyond that the oldest, which would end first, is forgotten.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._windows: defaultdict[RateLimitPolicy, OrderedDict[str, tuple[int, float]]] = defaultdict(
            OrderedDict
        )

    def hit(self, policy: RateLimitPolicy, key: str) -> tuple[int, float]:
        now, windows = self._clock(), self._windows[policy]
        while windows and next(iter(windows.values()))[1] <= now:
            windows.popitem(last=False)
        if len(windows) >= MAX_WINDOWS and key not in windows:
            windows.popitem(last=False)
        count, ends_at = windows.get(key, (0, now + policy.window_seconds))
        windows[key] = count + 1, ends_at
        return count + 1, ends_at - now


@asynccontextmanager
async def open_counters(redis_url: SecretStr | None) -> AsyncIterator[Counters]:
    """Open the counters; without a URL they live in this process."""
    counters = Counters(redis_url)
    try:
        yield counters
    finally:
        await counters.close()
