"""Names become addresses, by c-ares: no thread waits for a silent name server."""

from __future__ import annotations

import errno
import os
import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING, Self

import aiodns
import pycares

from monitoring.outbound.exchanges import FailureCode
from monitoring.outbound.failures import ExchangeFailed

if TYPE_CHECKING:
    from monitoring.outbound.addresses import Address

_UNKNOWN = {aiodns.error.ARES_ENOTFOUND, aiodns.error.ARES_EBADNAME}
_WITHOUT_ADDRESS = {aiodns.error.ARES_ENODATA}
_OURS = {
    aiodns.error.ARES_ECANCELLED: errno.ECANCELED,
    aiodns.error.ARES_EDESTRUCTION: errno.ECANCELED,
    aiodns.error.ARES_EFILE: errno.EIO,
    aiodns.error.ARES_ENOMEM: errno.ENOMEM,
}

# Customers' names are whole: this network's search domains would only be told them. EDNS is c-ares' default.
_FLAGS = pycares.ARES_FLAG_NOSEARCH | pycares.ARES_FLAG_EDNS


class Resolver:
    """Asks `dns_servers` (`address` or `address:port`) or, without any, those of the system.

    The hosts file comes first where the system says so, and answers are kept as long as their TTL allows.
    """

    def __init__(self, dns_servers: tuple[str, ...] = ()) -> None:
        self._resolver = aiodns.DNSResolver(dns_servers or None, flags=_FLAGS)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._resolver.close()

    async def resolve(self, host: str) -> list[Address]:
        """Return the addresses of a host, the most promising first (RFC 6724).

        Raises ExchangeFailed, and OSError when this machine has no sockets or memory left to ask with.
        """
        try:
            found = await self._resolver.getaddrinfo(host)
        except aiodns.error.DNSError as error:
            _raise_if_ours(error.args[0])
            raise ExchangeFailed(FailureCode.DNS_FAILURE, _sentence(error.args[0])) from None
        if not found.nodes:
            raise ExchangeFailed(FailureCode.DNS_FAILURE, _sentence(aiodns.error.ARES_ENODATA))
        return [ip_address(node.addr[0].decode()) for node in found.nodes]


def _raise_if_ours(code: int) -> None:
    """Raise OSError for what says nothing about the name.

    c-ares reports the same for a socket it could not open as for a server that refuses: opening one tells.
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
