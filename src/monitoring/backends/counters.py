"""Rate-limit windows, shared through Redis. While Redis is unavailable, each process counts on its own."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import SecretStr
from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ReadOnlyError, RedisError

from monitoring.backends.outage import Breaker
from monitoring.backends.redis_address import outage_of_redis
from monitoring.settings import RateLimitPolicy

__all__ = ["Allowance", "Counters", "RateLimitPolicy", "open_counters"]

TIMEOUT_SECONDS = 0.25
MAX_CONNECTIONS = 50
MAX_WINDOWS = 100_000

# In one atomic round trip, this script counts a hit, starts the window if the hit is the first, and returns
# the count and the window's remaining time.
_HIT = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1])}
"""


@dataclass(frozen=True, slots=True)
class Allowance:
    """The quota that remains under a policy after a hit. `reset_seconds` is rounded up."""

    policy: RateLimitPolicy
    allowed: bool
    remaining: int
    reset_seconds: int

    def headers(self) -> dict[str, str]:
        """Return the headers `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers)."""
        policy = self.policy
        return {
            "RateLimit": f'"{policy.name}";r={self.remaining};t={self.reset_seconds}',
            "RateLimit-Policy": f'"{policy.name}";q={policy.limit};w={policy.window_seconds}',
        }


class Counters:
    """Counts hits in rate-limit windows. A window starts with its first hit.

    Counting never raises and never blocks for long.
    """

    def __init__(
        self, redis_url: SecretStr | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._memory = _MemoryWindows(clock)
        self._outage = outage_of_redis(redis_url.get_secret_value()) if redis_url else None
        self._breaker = Breaker(clock)
        self._client = redis_url and _make_client(redis_url.get_secret_value())
        self._script = self._client and self._client.register_script(_HIT)
        self._free_connections = asyncio.Semaphore(MAX_CONNECTIONS)

    async def hit(self, policy: RateLimitPolicy, key: str) -> Allowance:
        """Count one request for `key`, and return the remaining quota."""
        count, reset_seconds = await self._count(policy, key)
        return Allowance(
            policy=policy,
            allowed=count <= policy.limit,
            remaining=max(0, policy.limit - count),
            # Rounding can make the remaining time slightly longer than the window.
            reset_seconds=max(1, min(policy.window_seconds, math.ceil(reset_seconds))),
        )

    async def close(self) -> None:
        """Close the connections to Redis."""
        if self._client:
            await self._client.aclose()

    async def _count(self, policy: RateLimitPolicy, key: str) -> tuple[int, float]:
        if self._script and self._outage and self._breaker.may_try() and await self._find_free_connection():
            keys = [f"monitoring:rate:{policy.name}:{key}"]
            try:
                count, ttl_ms = await self._script(keys=keys, args=[policy.window_seconds * 1000])
            except (RedisError, OSError) as error:
                self._breaker.open()
                self._outage.begin(error)
                if isinstance(error, ReadOnlyError) and self._client:
                    # Another server may now be the primary, so idle connections must reconnect. Connections
                    # in use detect the change themselves. They are not closed here, because closing a
                    # connection that is still being opened would raise an AttributeError in the task that
                    # uses it.
                    await self._client.connection_pool.disconnect(inuse_connections=False)
            else:
                self._breaker.close()
                self._outage.end()
                return count, ttl_ms / 1000
            finally:
                self._free_connections.release()
        return self._memory.hit(policy, key)

    async def _find_free_connection(self) -> bool:
        """Wait briefly for a free connection. Returns False if all connections stay in use.

        A timeout here does not count as an outage of Redis.
        """
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                return await self._free_connections.acquire()
        except TimeoutError:
            return False


def _make_client(redis_url: str) -> Redis:
    """Create a client with short timeouts.

    The client retries a command once if the connection fails, because Redis may have closed an idle
    connection.
    """
    pool = ConnectionPool.from_url(
        redis_url,
        max_connections=MAX_CONNECTIONS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        socket_timeout=TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
    )
    return Redis.from_pool(pool)


class _MemoryWindows:
    """The rate-limit windows of one process.

    A policy's windows all have the same length, so they end in the order in which they started. A policy has
    at most `MAX_WINDOWS` windows. Beyond that, the oldest window is dropped.
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
    """Open the counters. If `redis_url` is None, they are local to this process."""
    counters = Counters(redis_url)
    try:
        yield counters
    finally:
        await counters.close()
