"""The address of a Redis without credentials, for logs."""

from __future__ import annotations

from urllib.parse import urlsplit

from monitoring.backends.outage import Outage, outage_of

DEFAULT_PORT = 6379

MEANWHILE = "each process counts rate limits for itself, and the sweep sends messages later"


def address_of(redis_url: str) -> str:
    """Return `host:port`, or the path of a socket, of a URL. Credentials and options stay out."""
    url = urlsplit(redis_url)
    if url.scheme == "unix":
        return url.path
    return f"{url.hostname or 'localhost'}:{url.port or DEFAULT_PORT}"


def outage_of_redis(redis_url: str) -> Outage:
    """Return the outage of a Redis, which queue and counters of a process share."""
    return outage_of(f"Redis at {address_of(redis_url)}", MEANWHILE)
