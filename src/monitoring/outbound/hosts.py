"""The host of a client's URL. The document's schema has already checked the URL's form."""

from __future__ import annotations

import re

_HOST = re.compile(r"[a-z]+://(?:\[([^\]]+)\]|([^:/?]+))")


def host_of(url: str) -> str:
    """Return a URL's host as written. An IPv6 address is returned without its brackets."""
    matched = _HOST.match(url)
    if not matched:
        raise ValueError("not a URL with a host")
    return matched[1] or matched[2]
