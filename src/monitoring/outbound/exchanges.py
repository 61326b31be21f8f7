"""What is sent to a stranger's server, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from monitoring.outbound.redirects import Hop
from monitoring.outbound.targets import read_target

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class FailureCode(StrEnum):
    """Why no whole answer came. Named like the document's CheckError."""

    DNS_FAILURE = "dns_failure"
    CONNECTION_REFUSED = "connection_refused"
    CONNECTION_FAILED = "connection_failed"
    TIMEOUT = "timeout"
    TLS_INVALID = "tls_invalid"
    INVALID_RESPONSE = "invalid_response"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    RESPONSE_TOO_LARGE = "response_too_large"
    BLOCKED_ADDRESS = "blocked_address"


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure and its sentence for people, which tells nothing about addresses that are refused."""

    code: FailureCode
    message: str


@dataclass(frozen=True, kw_only=True)
class OutboundRequest:
    """A request. `timeout_seconds` is for the whole exchange, redirects and reading included.

    With `keep_body` the answer's body is kept, and one above the cap is a failure; without it the body is
    read no further than the cap, and forgotten. What goes over the wire is remembered with the request.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    timeout_seconds: float
    follow_redirects: bool = False
    verify_tls: bool = True
    keep_body: bool = False

    @cached_property
    def first_hop(self) -> Hop:
        """Where it begins. Raises UnusableUrl."""
        return Hop(read_target(self.url), self.method, self.headers, self.body)


class Timings(NamedTuple):
    """Durations of the last hop in milliseconds, each phase for itself; `total_ms` is the whole exchange."""

    dns_ms: float | None = None
    connect_ms: float | None = None
    tls_ms: float | None = None
    first_byte_ms: float | None = None
    total_ms: float | None = None


class Exchange(NamedTuple):
    """What came of a request. Without `failure` there is a status; the body is decompressed.

    `tls_expires_at` is when the first of the certificates on the way ends, those of redirects included.
    """

    status_code: int | None = None
    body: bytes = b""
    timings: Timings = Timings()
    tls_expires_at: datetime | None = None
    failure: Failure | None = None
