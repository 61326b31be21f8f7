"""Moments on the wire (RFC 3339)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import overload


@overload
def write_timestamp(moment: datetime) -> str: ...
@overload
def write_timestamp(moment: None) -> None: ...
def write_timestamp(moment: datetime | None) -> str | None:
    """Write a moment in UTC, always with six digits: such timestamps sort as text."""
    return moment.isoformat("T", "microseconds").replace("+00:00", "Z") if moment else None


def read_timestamp(text: str) -> datetime:
    """Read what the document's Moment allows, `t` and `z` in lower case too, into UTC."""
    return datetime.fromisoformat(text.upper()).astimezone(UTC)
