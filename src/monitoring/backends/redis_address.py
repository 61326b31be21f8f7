"""Where a Redis is, as a log may tell it."""

from __future__ import annotations

from urllib.parse import urlsplit

DEFAULT_PORT = 6379


def address_of(redis_url: str) -> str:
    """Return `host:port`, or the path of a socket, of a URL. Credentials and options stay out."""
    url = urlsplit(redis_url)
    if url.scheme == "unix":
        return url.path
    return f"{url.hostname or 'localhost'}:{url.port or DEFAULT_PORT}"
