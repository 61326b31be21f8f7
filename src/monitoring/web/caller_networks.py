"""Which network a caller's address belongs to: limits count a network as one caller."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address

_CALLERS_REMEMBERED = 4096


@lru_cache(_CALLERS_REMEMBERED)
def plain_address(address: str) -> str:
    """Return an IPv4-mapped address (RFC 4291 §2.5.5.2) as the IPv4 address that it is, others unchanged."""
    parsed = _read_ipv6(address)
    return str(parsed.ipv4_mapped) if parsed and parsed.ipv4_mapped else address


@lru_cache(_CALLERS_REMEMBERED)
def network_of(address: str) -> str:
    """Return what counts as one caller: the address, or its /64 in IPv6, where one customer gets all of it.

    An IPv4-mapped address is the IPv4 address that it carries. Text that is no address is returned as it is.
    """
    plain = plain_address(address)
    parsed = _read_ipv6(plain)
    return str(IPv6Network((int(parsed), 64), strict=False)) if parsed else plain


def _read_ipv6(text: str) -> IPv6Address | None:
    """Read an IPv6 address; None for any other text, which a proxy may have passed on."""
    try:
        parsed = ip_address(text)
    except ValueError:
        return None
    return parsed if isinstance(parsed, IPv6Address) else None
