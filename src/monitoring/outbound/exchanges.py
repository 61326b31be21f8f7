"""An HTTP request to a stranger's server, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from monitoring.outbound.redirects import Hop
from monitoring.outbound.stopwatch import Timings
from monitoring.outbound.targets import read_target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from monitoring.outbound.failures import Failure
    from monitoring.outbound.tls_sessions import Resumption


@dataclass(frozen=True, kw_only=True)
class OutboundRequest:
    """A request. `timeout_seconds` is for the whole exchange, redirects and reading included.

    With `keep_body` the answer's body is kept, and a body above the cap is a failure. Without it, the body is
    read up to the cap and dropped. The request remembers the bytes that it sends.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    timeout_seconds: float
    follow_redirects: bool = False
    verify_tls: bool = True
    tls_resumption: Resumption | None = None
    keep_body: bool = False

    @cached_property
    def first_hop(self) -> Hop:
        """Where the request goes first. Raises UnusableUrl."""
        return Hop(read_target(self.url), self.method, self.headers, self.body)


class Exchange(NamedTuple):
    """What came of a request: a status and the decompressed body, or a failure.

    `headers` are those of the answer, as bytes, their names in lower case. `retry_after` is that header as
    it came, and empty without one. `tls_expires_at` is when the first of the certificates on the way expires,
    those of redirects included.
    """

    status_code: int | None = None
    body: bytes = b""
    timings: Timings = Timings()
    tls_expires_at: datetime | None = None
    retry_after: str = ""
    failure: Failure | None = None
    headers: Mapping[bytes, Sequence[bytes]] = MappingProxyType({})
