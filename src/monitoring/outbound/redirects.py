"""Determines the next request after a redirect. Follows the Fetch standard, but is stricter across origins.

Does no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from monitoring.outbound.cookies import Cookies
from monitoring.outbound.request_bytes import write_request
from monitoring.outbound.targets import Target, follow_location

MAX_REDIRECTS = 10

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SEE_OTHER = 303
# The headers that browsers send to every server. Any other header may contain a secret.
_FOR_EVERYBODY = frozenset(
    {"accept", "accept-charset", "accept-language", "cache-control", "dnt", "pragma", "user-agent"}
)
_ABOUT_THE_BODY = frozenset({"content-encoding", "content-language", "content-location", "content-type"})


@dataclass(frozen=True)
class Hop:
    """One request in a chain of redirects. `cookies` are those that earlier responses set."""

    target: Target
    method: str
    headers: Mapping[str, str]
    body: bytes | None
    cookies: Cookies | None = None

    @cached_property
    def written(self) -> bytes:
        """The bytes to send. Raises ValueError as `write_request` does."""
        return write_request(self)


def is_redirect(status_code: int, location: str | None) -> bool:
    """Return whether a response is a redirect. A 3xx without Location is an ordinary response."""
    return status_code in _REDIRECTS and location is not None


def next_hop(hop: Hop, status_code: int, location: str) -> Hop:
    """Return the request that a redirect leads to. Raises UnusableUrl.

    Another origin gets no body, even after 307 and 308, which keep the method. It gets only those headers
    that browsers send to every server. A redirect back to the first origin restores neither body nor headers.
    """
    following = replace(hop, target=follow_location(hop.target, location))
    if _becomes_get(hop.method, status_code):
        headers = {name: value for name, value in hop.headers.items() if name.lower() not in _ABOUT_THE_BODY}
        following = replace(following, method="GET", headers=headers, body=None)
    if following.target.origin != hop.target.origin:
        headers = {name: value for name, value in hop.headers.items() if name.lower() in _FOR_EVERYBODY}
        following = replace(following, headers=headers, body=None)
    return following


def _becomes_get(method: str, status_code: int) -> bool:
    if status_code == _SEE_OTHER:
        return method not in ("GET", "HEAD")
    return method == "POST" and status_code in (301, 302)
