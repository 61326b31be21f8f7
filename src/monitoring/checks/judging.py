"""What an exchange says about the monitor it was made for. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum, auto
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from monitoring.monitors.health import Outcome
from monitoring.outbound.exchanges import FailureCode

if TYPE_CHECKING:
    from datetime import datetime

    from monitoring.outbound.exchanges import Exchange

SHOWN_KEYWORD_CHARACTERS = 100

# What our own connection can bring about: a gateway without uplink resolves every name to itself, which is an
# address we refuse. Other codes need an answer from the other side.
_ABOUT_THE_NETWORK = frozenset(
    {
        FailureCode.DNS_FAILURE,
        FailureCode.CONNECTION_REFUSED,
        FailureCode.CONNECTION_FAILED,
        FailureCode.TIMEOUT,
        FailureCode.TLS_INVALID,
        FailureCode.BLOCKED_ADDRESS,
    }
)


class Objection(StrEnum):
    """What can be wrong with a whole answer. With `FailureCode` these are the document's CheckError."""

    UNEXPECTED_STATUS = auto()
    KEYWORD_MISSING = auto()
    KEYWORD_FORBIDDEN = auto()
    TLS_EXPIRING = auto()
    SLOW = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What an answer must be: the monitor's fields of the same names. A threshold of None never warns."""

    expected_status_codes: tuple[str, ...]
    required_keyword: str | None
    forbidden_keyword: str | None
    tls_expiry_warning_days: int
    slow_threshold_ms: int | None


class Verdict(NamedTuple):
    """An outcome, and unless it is UP a code of the document's CheckError and a sentence for people."""

    outcome: Outcome
    error: str | None = None
    message: str | None = None


_UP = Verdict(Outcome.UP)


def judge(exchange: Exchange, expectation: Expectation, now: datetime) -> Verdict:
    """Compare an exchange with what was expected; the gravest objection wins.

    Keywords are matched with regard to case, as UTF-8: in a page of another encoding only ASCII ones are
    found. Our own messages stay below 200 characters and quote nothing of the answer but its status.
    """
    if exchange.failure:
        return Verdict(Outcome.DOWN, exchange.failure.code, exchange.failure.message)
    return _find_error(exchange, expectation) or _find_warning(exchange, expectation, now) or _UP


def is_about_the_network(code: str) -> bool:
    """Say whether our own connection could be at fault, so that it is worth asking whether we are blind."""
    return code in _ABOUT_THE_NETWORK


def _find_error(exchange: Exchange, expectation: Expectation) -> Verdict | None:
    patterns = expectation.expected_status_codes
    if not any(exchange.status_code in statuses for statuses in _parse_patterns(patterns)):
        message = f"Answered {exchange.status_code} instead of {_enumerate(patterns)}"
        return Verdict(Outcome.DOWN, Objection.UNEXPECTED_STATUS, message)
    required, forbidden = expectation.required_keyword, expectation.forbidden_keyword
    if required is not None and required.encode() not in exchange.body:
        message = f"The answer does not contain {_quote(required)}"
        return Verdict(Outcome.DOWN, Objection.KEYWORD_MISSING, message)
    if forbidden is not None and forbidden.encode() in exchange.body:
        message = f"The answer contains {_quote(forbidden)}"
        return Verdict(Outcome.DOWN, Objection.KEYWORD_FORBIDDEN, message)
    return None


def _find_warning(exchange: Exchange, expectation: Expectation, now: datetime) -> Verdict | None:
    expires_at, warning_days = exchange.tls_expires_at, expectation.tls_expiry_warning_days
    if expires_at and warning_days and expires_at - now <= timedelta(days=warning_days):
        return Verdict(Outcome.DEGRADED, Objection.TLS_EXPIRING, _tell_expiry(expires_at, now))
    total_ms, threshold_ms = exchange.timings.total_ms, expectation.slow_threshold_ms
    # Rounded as it is shown, lest "1,000 ms" be slower than "1,000 ms".
    if total_ms is not None and threshold_ms is not None and round(total_ms) > threshold_ms:
        message = f"Answered in {round(total_ms):,} ms, slower than {threshold_ms:,} ms"
        return Verdict(Outcome.DEGRADED, Objection.SLOW, message)
    return None


@lru_cache(maxsize=1024)
def _parse_patterns(patterns: tuple[str, ...]) -> tuple[range, ...]:
    return tuple(_parse_pattern(pattern) for pattern in patterns)


def _parse_pattern(pattern: str) -> range:
    """Read `204`, `2xx` or `200-299`, as the document's StatusCodePattern has them."""
    if pattern.endswith("xx"):
        first_status = int(pattern[0]) * 100
        return range(first_status, first_status + 100)
    low, _, high = pattern.partition("-")
    return range(int(low), int(high or low) + 1)


def _enumerate(patterns: tuple[str, ...]) -> str:
    *others, last = patterns
    return f"{', '.join(others)} or {last}" if others else last


def _quote(keyword: str) -> str:
    """Name a keyword in one line, shortened if need be."""
    shown = "".join(character if character.isprintable() else " " for character in keyword)
    if len(shown) > SHOWN_KEYWORD_CHARACTERS:
        shown = f"{shown[: SHOWN_KEYWORD_CHARACTERS - 1]}…"
    return f'"{shown}"'


def _tell_expiry(expires_at: datetime, now: datetime) -> str:
    if expires_at <= now:
        return f"The certificate expired on {expires_at:%Y-%m-%d}"
    whole_days = (expires_at - now).days
    if whole_days == 0:
        return "The certificate expires in less than a day"
    return f"The certificate expires in {whole_days} {'day' if whole_days == 1 else 'days'}"
