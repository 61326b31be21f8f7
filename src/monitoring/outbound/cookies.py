"""The cookies of one check, which are sent back to their sites after redirects (RFC 6265).

`http.cookiejar` is not used, because it does not know public suffixes. It also does not send back a cookie
whose `Domain` attribute is an IP address or `localhost`, even to the host that set the cookie.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING

from monitoring.outbound.targets import Target

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

# The limits of browsers and curl. Servers reject requests with larger headers.
MAX_COOKIE_BYTES = 4096
MAX_HEADER_BYTES = 8190

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class _Cookie:
    pair: str
    domain: str
    is_host_only: bool
    path: str
    is_secure: bool

    def is_for(self, target: Target) -> bool:
        """Return whether a request to `target` may carry this cookie (RFC 6265 §5.4)."""
        if target.host != self.domain and (self.is_host_only or not _matches(target, self.domain)):
            return False
        return _is_below(_path_of(target), self.path) and (not self.is_secure or _is_trustworthy(target))


class Cookies:
    """The cookies that servers have set and not deleted."""

    def __init__(self) -> None:
        # By name, domain and path, because a later cookie with the same key replaces an earlier one (RFC 6265
        # §5.3).
        self._cookies: dict[tuple[str, str, str], _Cookie] = {}

    def keep(self, target: Target, set_cookies: Iterable[bytes]) -> None:
        """Store the cookies in a response's Set-Cookie headers, except invalid and other sites' cookies."""
        for header in set_cookies:
            written = header.decode("latin-1")
            if len(header) <= MAX_COOKIE_BYTES and not _CONTROL.search(written):
                self._keep(target, written)

    def write(self, target: Target, given: str = "") -> str:
        """Return a request's Cookie header, or "" if no cookie applies.

        `given` is the caller's own Cookie header. A stored cookie replaces a given cookie of the same name.
        """
        kept = [cookie for cookie in self._cookies.values() if cookie.is_for(target)]
        names = {_name_of(cookie.pair) for cookie in kept}
        pairs = [pair for each in given.split(";") if (pair := each.strip()) and _name_of(pair) not in names]
        size = 0
        for cookie in sorted(kept, key=lambda each: -len(each.path)):
            size += len(cookie.pair)
            if size <= MAX_HEADER_BYTES:
                pairs.append(cookie.pair)
        return "; ".join(pairs)

    def _keep(self, target: Target, written: str) -> None:
        pair, *others = (part.strip() for part in written.split(";"))
        parts = (other.partition("=") for other in others)
        attributes = {name.strip().lower(): value.strip() for name, _, value in parts}
        domain = attributes.get("domain", "").removeprefix(".").lower()
        if not pair or (domain and domain != target.host and not _matches(target, domain)):
            return
        path = attributes.get("path", "")
        if not path.startswith("/"):
            path = _path_of(target).rpartition("/")[0] or "/"
        cookie = _Cookie(pair, domain or target.host, not domain, path, "secure" in attributes)
        key = (_name_of(pair), cookie.domain, path)
        if _is_over(attributes):
            self._cookies.pop(key, None)
        elif not cookie.is_secure or _is_trustworthy(target):
            self._cookies[key] = cookie


def _name_of(pair: str) -> str:
    return pair.partition("=")[0].strip()


def _path_of(target: Target) -> str:
    return target.path.partition("?")[0]


def _is_below(path: str, of_cookie: str) -> bool:
    """Return whether a path matches a cookie's path (RFC 6265 §5.1.4)."""
    return path == of_cookie or path.startswith(of_cookie if of_cookie.endswith("/") else f"{of_cookie}/")


def _matches(target: Target, domain: str) -> bool:
    """Return whether a host is a subdomain of `domain`, and `domain` is not a public suffix.

    See RFC 6265 §5.1.3 and §5.3 step 5.
    """
    if target.address or not target.host.endswith(f".{domain}"):
        return False
    return not _public_suffixes().is_public(domain)


def _is_trustworthy(target: Target) -> bool:
    """Return whether `Secure` cookies may be sent: over TLS or locally (W3C, Secure Contexts §3.1)."""
    is_local = target.address.is_loopback if target.address else target.host == "localhost"
    return target.scheme == "https" or is_local


def _is_over(attributes: dict[str, str]) -> bool:
    """Return whether a cookie has expired. Max-Age takes precedence over Expires (RFC 6265 §5.3 step 3)."""
    if re.fullmatch(r"-?\d{1,18}", max_age := attributes.get("max-age", "")):
        return int(max_age) <= 0
    try:
        expires_at = parsedate_to_datetime(attributes.get("expires", ""))
    except (ValueError, OverflowError):
        return False
    return expires_at.replace(tzinfo=expires_at.tzinfo or UTC) <= datetime.now(UTC)


@cache  # loading the list takes 0.2 seconds and 3 MiB, and only cookies for several hosts need it
def _public_suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # noqa: PLC0415 - as above

    return PublicSuffixList()
