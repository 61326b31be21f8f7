"""The interface of all probes. A probe queries a server, and returns a finding."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum, auto
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

import orjson

from monitoring.contract.document import Json
from monitoring.monitors.configuration import complete_settings
from monitoring.monitors.health import Outcome
from monitoring.outbound.failures import ExchangeFailed
from monitoring.outbound.stopwatch import Timings
from monitoring.outbound.targets import Endpoint, UnusableUrl, read_endpoint, read_host

if TYPE_CHECKING:  # at run time, these imports would load a library
    from monitoring.outbound.dialer import Dialer


class Objection(StrEnum):
    """The codes of CheckError in the OpenAPI document, except those of failed calls (`FailureCode`)."""

    UNEXPECTED_STATUS = auto()
    UNEXPECTED_RECORDS = auto()
    KEYWORD_MISSING = auto()
    KEYWORD_FORBIDDEN = auto()
    TLS_EXPIRING = auto()
    SLOW = auto()
    PING_MISSING = auto()
    JOB_UNFINISHED = auto()
    JOB_FAILED = auto()


class Finding(NamedTuple):
    """The result of any kind of probe.

    If the outcome is DEGRADED or DOWN, `error` is a code of the OpenAPI document's CheckError, and `message`
    explains the code to people. An UNKNOWN outcome has no error. `status_code` is the response's status, if
    the protocol has statuses. `certificate_expires_at` is the earliest expiry of a certificate, or None
    without a certificate. `answer` is the stored part of a response that fails the check (`status_code`, and
    `headers` as pairs).

    A finding with `holds_until` needs no confirmation by another check. The next check is due at that time.
    """

    outcome: Outcome
    error: str | None = None
    message: str | None = None
    status_code: int | None = None
    timings: Timings = Timings()
    certificate_expires_at: datetime | None = None
    answer: dict[str, Json] | None = None
    holds_until: datetime | None = None

    @classmethod
    def of_failure(cls, failed: ExchangeFailed) -> Self:
        """Return the finding for a failed call."""
        code, message = failed.failure.code, failed.failure.message
        expires_at = failed.tls_expires_at
        return cls(Outcome.DOWN, code, message, timings=failed.timings, certificate_expires_at=expires_at)


def read_settings(monitor_type: str, row: Mapping[str, Any]) -> dict[str, Json]:
    """Return the settings of a monitor type from the column `settings` of a row, with defaults."""
    return complete_settings(monitor_type, orjson.loads(row["settings"]))


def read_endpoint_of(url: str, default_port: int | None = None) -> Endpoint | None:
    """Parse a URL that ends with its port, such as `tcp://host:port`; return None if it is invalid."""
    try:
        return read_endpoint(url.partition("://")[2], default_port)
    except UnusableUrl:
        return None


def read_host_of(url: str) -> Endpoint | None:
    """Parse a URL that ends with its host, such as `ping://host`; return None if it is invalid."""
    try:
        return read_host(url.partition("://")[2])
    except UnusableUrl:
        return None


class Probe(Protocol):
    """Checks one monitor. A probe is created from the monitor's row, and used until the row changes."""

    # The columns of `monitors` that `read` needs. `settings` stores the field that is named after the type.
    columns: ClassVar[tuple[str, ...]]

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """Read the probe from a monitor's row.

        The row is as the driver returns it: JSON is text, and SQLite returns booleans as numbers.
        """

    @property
    def endpoint(self) -> Endpoint | None:
        """The host and port to which the probe connects first.

        None if the monitor's URL is invalid, or if the probe never connects. The setting `CHECKS_PER_HOST`
        limits the checks per endpoint. All probes without an endpoint count as one host.
        """

    async def ask(self, dialer: Dialer) -> Finding:
        """Query the server and evaluate its response.

        Raises OSError when this machine has no sockets left.
        """
