"""Where a URL leads: scheme, host, port and path, each in the one form that is sent. Pure.

What is judged and what is connected to come from the same reading, so no second parser can disagree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urljoin

from monitoring.outbound.hosts import MAX_HOST_NAME_CHARACTERS

if TYPE_CHECKING:
    from monitoring.outbound.addresses import Address

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL_CHARACTERS = 8192
MAX_LABEL_CHARACTERS = 63

# Checks and webhooks come to the same URLs again and again; strangers do not choose how much is remembered.
_MAX_REMEMBERED = 16_384
_MAX_REMEMBERED_CHARACTERS = 512

_URL = re.compile(r"(https?)://([^/?#]+)([^?#]*)(\?[^#]*)?(?:#.*)?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:@\[\]\\]+))(?::([0-9]{0,5}))?")
_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_LABEL_SEPARATOR = re.compile("[.\u3002\uff0e\uff61]")  # those of IDNA (RFC 3490 §3.1)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_UNREADABLE = re.compile(r"[\x00-\x1f\x7f]")
_KEPT_AS_WRITTEN = "!$%&'()*+,/:;=?@[]|~"


class UnusableUrl(ValueError):  # noqa: N818 - it is said of a redirect, where it is an outcome
    """Not a URL of http or https with a host, or one with credentials."""


class DisguisedAddress(UnusableUrl):
    """A host that some resolvers take for an IPv4 address and others for a name, such as 0x7f.1."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes. `address` is there when the host is one, and nothing has to be resolved."""

    scheme: str
    host: str
    port: int
    path: str
    address: Address | None

    @property
    def origin(self) -> tuple[str, str, int]:
        """What two targets share when one may see the other's headers (RFC 6454)."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """What stands in the Host header."""
        host = f"[{self.host}]" if isinstance(self.address, IPv6Address) else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole of it, as relative redirects are read against."""
        return f"{self.scheme}://{self.authority}{self.path}"


def read_target(url: str) -> Target:
    """Read an absolute URL; its fragment is dropped. Raises UnusableUrl.

    For URLs that come again and again, since they are remembered unless they are long; strangers' are read
    by `follow_location`.
    """
    return _recall_target(url) if len(url) <= _MAX_REMEMBERED_CHARACTERS else _read_target(url)


def follow_location(target: Target, location: str) -> Target:
    """Read where a Location header leads, relative to the target that sent it. Raises UnusableUrl."""
    location = location.strip(" \t")
    if len(location) > MAX_URL_CHARACTERS or _UNREADABLE.search(location):
        raise UnusableUrl  # before `urljoin`, which would drop some of these and go on
    try:
        return _read_target(urljoin(target.url, location))
    except UnusableUrl:
        raise
    except ValueError:  # brackets that do not match
        raise UnusableUrl from None


def _read_target(url: str) -> Target:
    matched = _URL.fullmatch(url)
    if not matched or len(url) > MAX_URL_CHARACTERS or _UNREADABLE.search(url):
        raise UnusableUrl
    scheme = matched[1].lower()
    host, port, address = _read_authority(matched[2])
    path = quote((matched[3] or "/") + (matched[4] or ""), safe=_KEPT_AS_WRITTEN)
    return Target(scheme, host, DEFAULT_PORTS[scheme] if port is None else port, path, address)


_recall_target = lru_cache(_MAX_REMEMBERED)(_read_target)


def _read_authority(authority: str) -> tuple[str, int | None, Address | None]:
    matched = _AUTHORITY.fullmatch(authority)
    if not matched:
        raise UnusableUrl
    port = int(matched[3]) if matched[3] else None
    if port is not None and not 0 < port <= 65535:  # noqa: PLR2004 - the largest there is
        raise UnusableUrl
    if matched[1]:
        address6 = _read_ipv6(matched[1])
        return str(address6), port, address6
    host = _read_name(matched[2])
    address4 = _read_ipv4(host)
    return (str(address4), port, address4) if address4 else (host, port, None)


def _read_name(written: str) -> str:
    """Bring a host to ASCII as browsers do: percent-decoded, then IDNA, which folds full-width digits too."""
    try:
        decoded = unquote(written, errors="strict")
        if not _is_short_enough(decoded):
            raise UnusableUrl
        host = decoded.encode("idna").decode("ascii").lower()
    except UnicodeError:
        raise UnusableUrl from None
    if not _NAME.fullmatch(host.removesuffix(".")):
        raise UnusableUrl
    return host


def _is_short_enough(host: str) -> bool:
    """Say so before IDNA, which would take a good part of a second for a redirect's thousands of letters."""
    labels = _LABEL_SEPARATOR.split(host)
    return len(host) <= MAX_HOST_NAME_CHARACTERS + len(".") and max(map(len, labels)) <= MAX_LABEL_CHARACTERS


def _read_ipv4(host: str) -> IPv4Address | None:
    """Read a host that ends in a number and so is an address (WHATWG URL §3.5); one form is taken."""
    host = host.removesuffix(".")
    if not _NUMBER.fullmatch(host.rpartition(".")[2]):
        return None
    try:
        return IPv4Address(host)
    except AddressValueError:
        raise DisguisedAddress from None


def _read_ipv6(written: str) -> IPv6Address:
    try:
        return IPv6Address(written)
    except AddressValueError:
        raise UnusableUrl from None
