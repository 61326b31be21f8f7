"""Timestamps in the format of RFC 3339."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import overload


@overload
def write_timestamp(moment: datetime) -> str: ...
@overload
def write_timestamp(moment: None) -> None: ...
def write_timestamp(moment: datetime | None) -> str | None:
    """Render a UTC time with six fractional digits, so that timestamps sort as text. None stays None."""
    return moment.isoformat("T", "microseconds").replace("+00:00", "Z") if moment else None


def read_timestamp(text: str) -> datetime:
    """Parse a timestamp in the document's format Moment, also with lower-case `t` and `z`. Returns UTC."""
    return datetime.fromisoformat(text.upper()).astimezone(UTC)
