"""Parses URLs: scheme, host, port and path, each in the normal form that is sent. Does no I/O.

The address check and the connection use the same parsed URL, so they cannot disagree about the host.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import quote, unquote, urljoin

import idna

from monitoring.outbound.addresses import Address

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL_CHARACTERS = 8192
MAX_HOST_NAME_CHARACTERS = 253
MAX_LABEL_CHARACTERS = 63

# Parsed URLs are cached, because checks and webhooks use the same URLs repeatedly. The cache is limited,
# because clients must not control its memory use.
_MAX_REMEMBERED = 16_384
_MAX_REMEMBERED_CHARACTERS = 512

_URL = re.compile(r"(https?)://([^/?#]+)([^?#]*)(\?[^#]*)?(?:#.*)?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:@\[\]\\]+))(?::([0-9]{0,5}))?")
_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_LABEL_SEPARATOR = re.compile("[.\u3002\uff0e\uff61]")  # the separators of IDNA (RFC 3490 §3.1)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_JOINERS = "\u200c\u200d"
_UNREADABLE = re.compile(r"[\x00-\x1f\x7f]")
_KEPT_AS_WRITTEN = "!$%&'()*+,/:;=?@[]|~"


class UnusableUrl(ValueError):  # noqa: N818 - for a redirect it is a result
    """A URL that contains credentials, has no host, or is not an http or https URL."""


class DisguisedAddress(UnusableUrl):
    """A host that only some resolvers interpret as an IPv4 address, such as 0x7f.1."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A host and port to contact. If the host is an IP address, `address` is set and no name is resolved.

    The port is 0 for ICMP, which has no ports.
    """

    host: str
    port: int
    address: Address | None


@dataclass(frozen=True, slots=True)
class Target(Endpoint):
    """The parsed URL of an HTTP request, without its fragment."""

    scheme: str
    path: str

    @property
    def origin(self) -> tuple[str, str, int]:
        """The origin (RFC 6454). After a redirect, only a target of the same origin gets all headers."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if isinstance(self.address, IPv6Address) else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The complete URL, which is the base of relative redirects."""
        return f"{self.scheme}://{self.authority}{self.path}"


def read_target(url: str) -> Target:
    """Parse an absolute URL, dropping its fragment. Raises UnusableUrl.

    Short URLs are cached, because checks and webhooks use the same ones repeatedly. For redirects, use
    `follow_location`, which does not cache them.
    """
    return _recall_target(url) if len(url) <= _MAX_REMEMBERED_CHARACTERS else _read_target(url)


def follow_location(target: Target, location: str) -> Target:
    """Parse a Location header, relative to the target that sent it. Raises UnusableUrl."""
    location = location.strip(" \t")
    if len(location) > MAX_URL_CHARACTERS or _UNREADABLE.search(location):
        raise UnusableUrl  # checked first, because `urljoin` would silently drop some of these characters
    try:
        return _read_target(urljoin(target.url, location))
    except UnusableUrl:
        raise
    except ValueError:  # unbalanced brackets
        raise UnusableUrl from None


def _read_target(url: str) -> Target:
    matched = _URL.fullmatch(url)
    if not matched or len(url) > MAX_URL_CHARACTERS or _UNREADABLE.search(url):
        raise UnusableUrl
    scheme = matched[1].lower()
    endpoint = read_endpoint(matched[2], DEFAULT_PORTS[scheme])
    path = quote((matched[3] or "/") + (matched[4] or ""), safe=_KEPT_AS_WRITTEN)
    return Target(endpoint.host, endpoint.port, endpoint.address, scheme, path)


_recall_target = lru_cache(_MAX_REMEMBERED)(_read_target)


def read_endpoint(authority: str, default_port: int | None = None) -> Endpoint:
    """Parse `host:port` or `[IPv6]:port`. The port is required if there is no default. Raises UnusableUrl."""
    matched = _AUTHORITY.fullmatch(authority)
    if not matched:
        raise UnusableUrl
    port = int(matched[3]) if matched[3] else default_port
    if port is None or not 0 < port <= 65535:  # noqa: PLR2004 - the largest there is
        raise UnusableUrl
    if matched[1]:
        address6 = _read_ipv6(matched[1])
        return Endpoint(str(address6), port, address6)
    host = _read_name(matched[2])
    address4 = _read_ipv4(host)
    return Endpoint(str(address4), port, address4) if address4 else Endpoint(host, port, None)


def read_host(written: str) -> Endpoint:
    """Parse a host without a port. Raises UnusableUrl."""
    return replace(read_endpoint(f"{written}:1"), port=0)


def _read_name(written: str) -> str:
    """Convert a host to ASCII as browsers do (WHATWG URL §3.3): percent-decode, then UTS 46."""
    try:
        decoded = unquote(written, errors="strict")
        if not _is_short_enough(decoded):
            raise UnusableUrl
        host = decoded.lower() if decoded.isascii() else _to_ascii(decoded)
    except UnicodeError:
        raise UnusableUrl from None
    if not _NAME.fullmatch(host.removesuffix(".")):
        raise UnusableUrl
    return host


def _to_ascii(host: str) -> str:
    """Apply UTS 46 with the flags that browsers use. Raises idna.IDNAError, which is a UnicodeError.

    `idna.encode` would also apply the registries' rules (IDNA 2008), which forbid emoji and underscores.
    """
    labels = idna.uts46_remap(host, std3_rules=False, transitional=False).split(".")
    return ".".join(label if label.isascii() else _to_ascii_label(label) for label in labels)


def _to_ascii_label(label: str) -> str:
    if label.startswith("xn--"):
        raise UnusableUrl
    idna.check_initial_combiner(label)
    idna.check_bidi(label)
    for position, character in enumerate(label):
        if character in _JOINERS and not idna.valid_contextj(label, position):
            raise UnusableUrl
    return f"xn--{label.encode('punycode').decode('ascii')}"


def _is_short_enough(host: str) -> bool:
    """Return whether a host is short enough for IDNA. A redirect may lead to a host of any length."""
    labels = _LABEL_SEPARATOR.split(host)
    return len(host) <= MAX_HOST_NAME_CHARACTERS + len(".") and max(map(len, labels)) <= MAX_LABEL_CHARACTERS


def _read_ipv4(host: str) -> IPv4Address | None:
    """Parse a host as an IPv4 address. None if the host does not end in a number (WHATWG URL §3.5).

    Raises DisguisedAddress if the host ends in a number but is not four decimal numbers separated by dots.
    """
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
