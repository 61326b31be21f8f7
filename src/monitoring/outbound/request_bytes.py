"""Serialises a request to bytes (RFC 9112). Does no I/O."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monitoring.outbound.redirects import Hop

# Headers about framing, host and accepted encodings. If the caller sets them, they are dropped, because this
# module sets them itself.
OUR_HEADERS = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)

_DEFAULTS = {
    "user-agent": f"User-Agent: monitoring-service/{version('monitoring-service')}",
    "accept": "Accept: */*",
}
_EXPECT_A_BODY = frozenset({"PATCH", "POST", "PUT"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


def write_request(hop: Hop) -> bytes:
    """Return a request's bytes. Raises ValueError for an invalid method or header.

    See RFC 9110 §5.1, §5.5 and §9.1.
    """
    if not _TOKEN.fullmatch(hop.method):
        raise ValueError("not a method")
    lines = [f"{hop.method} {hop.target.path} HTTP/1.1", f"Host: {hop.target.authority}"]
    given = set()
    given_cookies = []
    for name, value in hop.headers.items():
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise ValueError("not a header")
        lower = name.lower()
        if hop.cookies and lower == "cookie":
            given_cookies.append(value)
        elif lower not in OUR_HEADERS:
            lines.append(f"{name}: {value}")
            given.add(lower)
    if hop.cookies and (cookies := hop.cookies.write(hop.target, "; ".join(given_cookies))):
        lines.append(f"Cookie: {cookies}")
    lines += [line for name, line in _DEFAULTS.items() if name not in given]
    if hop.body is not None or hop.method in _EXPECT_A_BODY:
        lines.append(f"Content-Length: {len(hop.body or b'')}")
    lines += ["Accept-Encoding: gzip, deflate", "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1") + (hop.body or b"")
