"""Parses Retry-After (RFC 9110 §10.2.3)."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def read_retry_after(header: str, now: datetime) -> float | None:
    """Return the seconds to wait from a Retry-After header (number or date). None if it is invalid."""
    if header.isascii() and header.isdigit():
        return float(header[:9])
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):  # a year of twenty digits
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())
