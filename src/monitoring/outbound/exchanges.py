"""An HTTP request to a stranger's server, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple, Protocol, TypeAlias

from monitoring.outbound.failures import Failure
from monitoring.outbound.redirects import Hop
from monitoring.outbound.stopwatch import Timings
from monitoring.outbound.targets import read_target

# Names in lower case
Headers: TypeAlias = "Mapping[bytes, Sequence[bytes]]"


@dataclass(frozen=True, kw_only=True)
class OutboundRequest:
    """A request, which remembers the bytes that it sends.

    `timeout_seconds` is for the whole exchange, redirects and reading included.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    timeout_seconds: float
    follow_redirects: bool = False
    verify_tls: bool = True

    @cached_property
    def first_hop(self) -> Hop:
        """Where the request goes first. Raises UnusableUrl."""
        return Hop(read_target(self.url), self.method, self.headers, self.body)


class BodyReader(Protocol):
    """Reads the body of the answer as far as it is of interest. Redirects that are followed are no answer."""

    def begin(self, status_code: int, headers: Headers) -> bool:
        """Look at the head, and say whether to read the body."""

    def read(self, piece: bytes) -> bool:
        """Take the next piece of the decompressed body, and say whether to go on."""


class Exchange(NamedTuple):
    """What came of a request: a status and what was read of the body, or a failure.

    `is_cut` says that the reading ended before the body did. `headers` are those of the answer, as bytes,
    their names in lower case. `retry_after` is that header as it came, and empty without one.
    `tls_expires_at` is when the first of the certificates on the way expires, those of authorities and of
    redirects included, and `expiring_certificate` names that certificate.
    """

    status_code: int | None = None
    body: bytes = b""
    is_cut: bool = False
    timings: Timings = Timings()
    tls_expires_at: datetime | None = None
    expiring_certificate: str | None = None
    retry_after: str = ""
    failure: Failure | None = None
    headers: Headers = MappingProxyType({})
