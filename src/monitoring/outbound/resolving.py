"""Resolves names with c-ares, so that no thread waits for an unresponsive name server."""

from __future__ import annotations

import errno
import os
import socket
from ipaddress import ip_address
from typing import Self
from urllib.parse import urlsplit

import aiodns
import pycares

from monitoring.outbound.addresses import Address
from monitoring.outbound.failures import ExchangeFailed, FailureCode
from monitoring.outbound.targets import Endpoint

DNS_PORT = 53

_UNKNOWN = {aiodns.error.ARES_ENOTFOUND, aiodns.error.ARES_EBADNAME}
_WITHOUT_ADDRESS = {aiodns.error.ARES_ENODATA}
_OURS = {
    aiodns.error.ARES_ECANCELLED: errno.ECANCELED,
    aiodns.error.ARES_EDESTRUCTION: errno.ECANCELED,
    aiodns.error.ARES_EFILE: errno.EIO,
    aiodns.error.ARES_ENOMEM: errno.ENOMEM,
}

# Search domains are not used. Customers' host names are fully qualified, so searching would only disclose
# them to other domains. These flags replace those that c-ares sets by default, so EDNS is set again here.
_FLAGS = pycares.ARES_FLAG_NOSEARCH | pycares.ARES_FLAG_EDNS


class Resolver:
    """Queries `dns_servers` (`address` or `address:port`) or, if there are none, the system's name servers.

    The hosts file is consulted first if the system is configured that way. Responses are cached as long as
    their TTL allows.
    """

    def __init__(self, dns_servers: tuple[str, ...] = ()) -> None:
        self._dns_servers = dns_servers
        self._resolver = aiodns.DNSResolver(dns_servers or None, flags=_FLAGS)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._resolver.close()

    @property
    def name_servers(self) -> list[Endpoint]:
        """The name servers, in the order of querying."""
        return [_read_name_server(each) for each in self._dns_servers or self._resolver.nameservers]

    async def resolve(self, host: str) -> list[Address]:
        """Return a host's addresses, the preferred ones first (RFC 6724).

        Raises ExchangeFailed, and OSError when this machine has no sockets or memory left.
        """
        try:
            found = await self._resolver.getaddrinfo(host)
        except aiodns.error.DNSError as error:
            _raise_if_ours(error.args[0])
            raise ExchangeFailed(FailureCode.DNS_FAILURE, _sentence(error.args[0])) from None
        if not found.nodes:
            raise ExchangeFailed(FailureCode.DNS_FAILURE, _sentence(aiodns.error.ARES_ENODATA))
        return [ip_address(node.addr[0].decode()) for node in found.nodes]

    async def find_records(self, host: str, record_type: str, server: Endpoint | None) -> list[bytes]:
        """Return a name's records from `server`, or from `name_servers` if `server` is None.

        Raises what `resolve` raises.
        """
        from monitoring.outbound.name_questions import find_records  # noqa: PLC0415 - it takes 9 MiB

        return await find_records(host, record_type, [server] if server else self.name_servers)


def _read_name_server(written: str) -> Endpoint:
    """Parse `address` or `address:port`. An IPv6 address without a port may lack its brackets."""
    is_ipv6_alone = written.count(":") > 1 and not written.startswith("[")
    place = urlsplit(f"//[{written}]" if is_ipv6_alone else f"//{written}")
    address = ip_address(str(place.hostname))
    return Endpoint(str(address), place.port or DNS_PORT, address)


def _raise_if_ours(code: int) -> None:
    """Raise OSError if this machine causes the error.

    c-ares returns the same code whether it cannot open a socket or a server refuses the connection. In the
    first case, opening a socket here raises OSError.
    """
    if code == aiodns.error.ARES_ECONNREFUSED:
        socket.socket(socket.AF_UNIX).close()
    if code in _OURS:
        raise OSError(_OURS[code], os.strerror(_OURS[code]))


def _sentence(code: int) -> str:
    if code in _UNKNOWN:
        return "The host's name does not exist"
    if code in _WITHOUT_ADDRESS:
        return "The host's name has no address"
    return "The name servers could not resolve the host's name"
