"""The sentences for exchanges that failed. None tells an address, or anything the other side wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.outbound.exchanges import Failure, FailureCode

if TYPE_CHECKING:
    from datetime import datetime


class ExchangeFailed(Exception):  # noqa: N818 - to the caller it is an outcome
    """Ends an exchange, from wherever it is noticed; with the certificate's end where that is the reason."""

    def __init__(self, code: FailureCode, message: str, tls_expires_at: datetime | None = None) -> None:
        super().__init__(message)
        self.failure = Failure(code, message)
        self.tls_expires_at = tls_expires_at


def blocked() -> ExchangeFailed:
    """Return the failure of every address that is refused.

    One sentence, whatever it is and why: a stranger must not learn the network this service stands in.
    """
    return ExchangeFailed(FailureCode.BLOCKED_ADDRESS, "The address is not one that may be reached from here")


def invalid(message: str) -> ExchangeFailed:
    """Return the failure of an answer that cannot be understood."""
    return ExchangeFailed(FailureCode.INVALID_RESPONSE, message)


def broken_off(message: str) -> ExchangeFailed:
    """Return the failure of a connection that did not come about or did not last."""
    return ExchangeFailed(FailureCode.CONNECTION_FAILED, message)
