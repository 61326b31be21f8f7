"""Hosts in letters beyond ASCII, and the ASCII form in which a URL must name them (IDNA 2008, RFC 5891)."""

import re

import idna

_HOST = re.compile(r"https?://(?:[^/?#@]*@)?([^/?#:\[\]@]+)")


def ascii_host_of(url: str) -> str | None:
    """Return the `xn--` form of a URL's host; None if it has no other letters, or has no such form."""
    matched = _HOST.match(url)
    if not matched or matched[1].isascii():
        return None
    try:
        return idna.encode(matched[1], uts46=True).decode()
    except idna.IDNAError:
        return None
