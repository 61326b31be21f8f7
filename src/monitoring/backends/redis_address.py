"""Redis addresses without credentials, for logs."""

from __future__ import annotations

from urllib.parse import urlsplit

from monitoring.backends.outage import Outage, outage_of

DEFAULT_PORT = 6379

MEANWHILE = "each process counts rate limits for itself, and the sweep sends messages later"


def address_of(redis_url: str) -> str:
    """Return a Redis URL's `host:port` or socket path, without credentials and options."""
    url = urlsplit(redis_url)
    if url.scheme == "unix":
        return url.path
    return f"{url.hostname or 'localhost'}:{url.port or DEFAULT_PORT}"


def outage_of_redis(redis_url: str) -> Outage:
    """Return a Redis server's outage state, which a process's queue and counters share."""
    return outage_of(f"Redis at {address_of(redis_url)}", MEANWHILE)
