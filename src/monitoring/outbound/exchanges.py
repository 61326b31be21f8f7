"""An HTTP request to an untrusted server, and its result."""

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
from monitoring.outbound.tls_settings import AS_USUAL, TlsSettings

# Header names are in lower case
Headers: TypeAlias = "Mapping[bytes, Sequence[bytes]]"


@dataclass(frozen=True, kw_only=True)
class OutboundRequest:
    """A request. It caches the bytes to send.

    `timeout_seconds` covers the whole exchange, including redirects and reading. The client certificate of
    `tls` is presented only to the origin of `url`.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    timeout_seconds: float
    follow_redirects: bool = False
    verify_tls: bool = True
    tls: TlsSettings = AS_USUAL

    @cached_property
    def first_hop(self) -> Hop:
        """The request to `url`, before any redirect. Raises UnusableUrl."""
        return Hop(read_target(self.url), self.method, self.headers, self.body)


class BodyReader(Protocol):
    """Reads the body of the final response as far as needed."""

    def begin(self, status_code: int, headers: Headers) -> bool:
        """Inspect the head, and return whether to read the body."""

    def read(self, piece: bytes) -> bool:
        """Process the next piece of the decompressed body, and return whether to continue."""


class Exchange(NamedTuple):
    """The result of a request: a status and the body as far as it was read, or a failure.

    `is_cut` means that reading ended before the body did. `headers` are the response's, as bytes with names
    in lower case. `retry_after` is the unparsed Retry-After header, or empty. `tls_expires_at` is the
    earliest expiry of all certificates involved, including those of authorities and redirects.
    `expiring_certificate` describes that certificate.
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
