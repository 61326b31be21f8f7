"""Shared code of the peers for authentication: token, key and rate limit."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jwt
import redis.asyncio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from uuid import UUID

SIGNING_KEY = os.environ["SIGNING_KEY"]
KEY_CACHE_SECONDS = float(os.environ.get("KEY_CACHE_SECONDS", "0"))

RATE_LIMIT = 1_000_000_000
WINDOW_SECONDS = 60

_HIT = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1])}
"""


class Refused(Exception):  # noqa: N818 - an answer
    """The request is refused with this status and error sentence."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status
        self.error = error


@dataclass(frozen=True, slots=True)
class Key:
    """A key that is not revoked. The audit log contains its id and its name."""

    client_id: str
    team_id: UUID
    scopes: frozenset[str]
    name: str


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a verified token."""

    client_id: str
    scopes: frozenset[str]


def verify_token(authorization: str | None) -> Claims:
    """Verify a bearer token's signature, issuer, audience and times, and return its claims."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Refused(401, "Authorization header missing")
    try:
        claims = jwt.decode(
            token,
            SIGNING_KEY,
            algorithms=["HS256"],
            audience="monitoring-api",
            issuer="monitoring-service",
            options={"require": ["iss", "aud", "sub", "iat", "exp", "jti", "scope"]},
        )
    except jwt.PyJWTError as error:
        raise Refused(401, "Invalid or expired token") from error
    return Claims(claims["sub"], frozenset(claims["scope"].split()))


class KeyCache:
    """A cache of recently used keys, for KEY_CACHE_SECONDS.

    A revoked key keeps working for up to this time.
    """

    def __init__(self, find: Callable[..., Awaitable[Key | None]]) -> None:
        self._find = find
        self._known: dict[str, tuple[Key, float]] = {}

    async def find(self, client_id: str, *where: Any) -> Key:
        """Return the key. Raises `Refused` if it is revoked or unknown."""
        known = self._known.get(client_id)
        if known and known[1] > time.monotonic():
            return known[0]
        key = await self._find(client_id, *where)
        if key is None:
            raise Refused(401, "Invalid API key")
        if KEY_CACHE_SECONDS:
            self._known[client_id] = key, time.monotonic() + KEY_CACHE_SECONDS
        return key


class RateLimiter:
    """Counts requests per key in Redis, in time windows that begin with the first request."""

    def __init__(self) -> None:
        self._client = redis.asyncio.Redis.from_url(os.environ["REDIS_URL"])
        self._hit = self._client.register_script(_HIT)

    async def count(self, client_id: str) -> dict[str, str]:
        """Count a request, and return the headers with the remaining quota. Raises `Refused`."""
        count, ttl_ms = await self._hit(keys=[f"rate:{client_id}"], args=[WINDOW_SECONDS * 1000])
        if count > RATE_LIMIT:
            raise Refused(429, "Rate limit exceeded")
        return {
            "RateLimit": f'"api";r={RATE_LIMIT - count};t={max(1, -(-ttl_ms // 1000))}',
            "RateLimit-Policy": f'"api";q={RATE_LIMIT};w={WINDOW_SECONDS}',
        }

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def demand_scope(claims: Claims, key: Key, scope: str) -> None:
    """Raise `Refused` for a caller without this scope."""
    if scope not in claims.scopes & key.scopes:
        raise Refused(403, "Insufficient permissions")
