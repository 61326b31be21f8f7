"""Decides which IP addresses may be connected to: public ones, and those that the operator allows.

Does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def read_networks(networks: tuple[str, ...]) -> tuple[Network, ...]:
    """Parse networks in CIDR notation. Raises ValueError for anything else."""
    return tuple(map(ip_network, networks))


@lru_cache(maxsize=16_384)
def is_permitted(address: Address, allowed_networks: tuple[Network, ...] = ()) -> bool:
    """Return whether an IP address may be connected to.

    If an IPv6 address contains IPv4 addresses, these must be permitted as well. For an IPv4-mapped address,
    only the IPv4 address is checked, because the kernel connects to that address. Addresses in
    `allowed_networks` are permitted even if they are not public, except those in `_NEVER`.
    """
    return all(_is_permitted(meant, allowed_networks) for meant in _meanings(address))


def _is_permitted(address: Address, allowed_networks: tuple[Network, ...]) -> bool:
    if _is_in(address, _NEVER):
        return False
    return _is_in(address, allowed_networks) or _is_public(address)


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return False
    return address.is_global and not address.is_multicast and not _is_in(address, _NOT_PUBLIC)


def _is_in(address: Address, networks: tuple[Network, ...]) -> bool:
    return any(address in network for network in networks)


def _meanings(address: Address) -> Iterator[Address]:
    if isinstance(address, IPv4Address):
        yield address
    elif address.ipv4_mapped:
        yield address.ipv4_mapped
    else:
        yield address
        yield from _carried_addresses(address)


def _carried_addresses(address: IPv6Address) -> Iterator[IPv4Address]:
    packed = address.packed
    if any(address in network for network in _ENDING_IN_IPV4) and not address.is_loopback:
        yield IPv4Address(packed[12:])
    if address in _LOCAL_NAT64:
        # A local prefix has 48, 56, 64 or 96 bits, and the embedded address skips octet 8 (RFC 6052 §2.2).
        yield IPv4Address(packed[6:8] + packed[9:11])
        yield IPv4Address(packed[7:8] + packed[9:12])
        yield IPv4Address(packed[9:13])
        yield IPv4Address(packed[12:])
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo


_ENDING_IN_IPV4 = (
    IPv6Network("::/96"),  # IPv4-compatible, RFC 4291 §2.5.5.1
    IPv6Network("::ffff:0:0:0/96"),  # IPv4-translated, RFC 2765 §2.1
    IPv6Network("64:ff9b::/96"),  # NAT64, RFC 6052
)
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")  # RFC 8215

_GLOBAL_UNICAST = IPv6Network("2000::/3")  # IANA assigns from this block; the rest is special or unassigned

# No setting permits these addresses. Cloud providers serve credentials to their machines at link-local
# addresses, and at the addresses below that have a provider's name.
_NEVER = read_networks(
    (
        "0.0.0.0/32",  # "this machine" to the kernel
        "::/128",
        "169.254.0.0/16",
        "fe80::/10",
        "100.100.100.200/32",  # Alibaba
        "168.63.129.16/32",  # Azure
        "192.0.0.192/32",  # Oracle
        "fd00:42::42/128",  # Scaleway
        "fd00:100::100:200/128",  # Alibaba
        "fd00:a9fe:a9fe::1/128",  # Akamai
        "fd00:c1::a9fe:a9fe/128",  # Oracle
        "fd00:ec2::/32",  # Amazon
        "fd20:ce::254/128",  # Google
    )
)

# IANA's special-purpose registries. `is_global` treats them differently in each Python version.
_NOT_PUBLIC = read_networks(
    (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "2001::/23",  # Teredo, ORCHID, benchmarking, anycast services
        "2001:db8::/32",
        "2002::/16",
        "2620:4f:8000::/48",
        "3ffe::/16",  # 6bone, returned to IANA
        "3fff::/20",
    )
)
