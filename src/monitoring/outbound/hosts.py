"""The host of a URL that a client gave, whose shape the document's schema has already judged."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address

MAX_HOST_NAME_CHARACTERS = 253

_HOST = re.compile(r"https?://(?:\[([^\]]+)\]|([^:/?]+))")
_NUMBER = re.compile(r"[0-9]+|0[Xx][0-9A-Fa-f]*")


def host_of(url: str) -> str:
    """Return the host as it is written, an IPv6 address without its brackets."""
    matched = _HOST.match(url)
    if not matched:
        raise ValueError("not an http or https URL")
    return matched[1] or matched[2]


def is_host(host: str) -> bool:
    """Say whether a host is an address or can be a name.

    A host that ends in a number is an IPv4 address (WHATWG URL §3.5), and only its usual form is one here:
    `2130706433` and `0x7f.1` reach 127.0.0.1 in some resolvers and nothing in others.
    """
    if ":" in host:
        return _is_address(IPv6Address, host)
    name = host.removesuffix(".")
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        return _is_address(IPv4Address, name)
    return len(name) <= MAX_HOST_NAME_CHARACTERS


def _is_address(kind: type[IPv4Address | IPv6Address], text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True
