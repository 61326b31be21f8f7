"""The reasons why an exchange with an untrusted server fails, as codes and as sentences for people.

No sentence contains an IP address, or anything that the server sent.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from monitoring.outbound.stopwatch import Phase, Timings

# The errors that occur when this machine has run out of resources, which is not the server's fault.
_OURS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


class FailureCode(StrEnum):
    """Why there is no complete response. The names are those of CheckError in the OpenAPI document."""

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
    """A failure code and its sentence, which reveals nothing about a blocked address."""

    code: FailureCode
    message: str


class ExchangeFailed(Exception):  # noqa: N818 - to the caller it is an outcome
    """An exchange has failed.

    `tls_expires_at` is set if an expired certificate is the reason, and `timings` once the call has ended.
    """

    timings = Timings()

    def __init__(self, code: FailureCode, message: str, tls_expires_at: datetime | None = None) -> None:
        super().__init__(message)
        self.failure = Failure(code, message)
        self.tls_expires_at = tls_expires_at


def blocked() -> ExchangeFailed:
    """Return the failure for every blocked address.

    The message is the same for all addresses, so a client learns nothing about this service's own network.
    """
    return ExchangeFailed(FailureCode.BLOCKED_ADDRESS, "The address is not one that may be reached from here")


def too_late(timeout_seconds: float, phase: Phase) -> ExchangeFailed:
    """Return the failure for a call that timed out in this phase."""
    seconds = "1 second" if timeout_seconds == 1 else f"{timeout_seconds:g} seconds"
    return ExchangeFailed(FailureCode.TIMEOUT, f"No answer within {seconds} ({phase.words})")


def invalid(message: str) -> ExchangeFailed:
    """Return the failure for a response that cannot be parsed."""
    return ExchangeFailed(FailureCode.INVALID_RESPONSE, message)


def broken_off(message: str) -> ExchangeFailed:
    """Return the failure for a connection that could not be opened, or that broke."""
    return ExchangeFailed(FailureCode.CONNECTION_FAILED, message)


def is_ours(error: OSError) -> bool:
    """Return whether this machine has run out of sockets or memory, which is not the server's fault."""
    return error.errno in _OURS
