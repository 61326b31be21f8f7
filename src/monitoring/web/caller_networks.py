"""The networks of caller addresses. Rate limits count each network as one caller."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address

_CALLERS_REMEMBERED = 4096


@lru_cache(_CALLERS_REMEMBERED)
def plain_address(address: str) -> str:
    """Convert an IPv4-mapped address (RFC 4291 §2.5.5.2) to IPv4. Other addresses are unchanged."""
    parsed = _read_ipv6(address)
    return str(parsed.ipv4_mapped) if parsed and parsed.ipv4_mapped else address


@lru_cache(_CALLERS_REMEMBERED)
def network_of(address: str) -> str:
    """Return the network that counts as one caller: an IPv4 address or an IPv6 /64.

    Providers usually assign a /64 to one customer. An IPv4-mapped address counts as IPv4. Text that is not an
    address is returned unchanged.
    """
    plain = plain_address(address)
    parsed = _read_ipv6(plain)
    return str(IPv6Network((int(parsed), 64), strict=False)) if parsed else plain


def _read_ipv6(text: str) -> IPv6Address | None:
    """Parse an IPv6 address. None for any other text, which a proxy may have forwarded."""
    try:
        parsed = ip_address(text)
    except ValueError:
        return None
    return parsed if isinstance(parsed, IPv6Address) else None
