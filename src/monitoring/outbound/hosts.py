"""Extracts the host of a URL from a client. The OpenAPI document's schema has already validated the URL."""

from __future__ import annotations

import re

_HOST = re.compile(r"[a-z]+://(?:\[([^\]]+)\]|([^:/?]+))")


def host_of(url: str) -> str:
    """Return a URL's host as written. An IPv6 address is returned without its brackets."""
    matched = _HOST.match(url)
    if not matched:
        raise ValueError("not a URL with a host")
    return matched[1] or matched[2]
