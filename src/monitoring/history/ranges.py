"""Parses the time range that a client requests, and its division into windows. Has no side effects."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from monitoring.contract.timestamps import read_timestamp

WindowName = Literal["hour", "day"]

MAX_DAYS_OF_HOURS = 31
MAX_DAYS = 400


@dataclass(frozen=True, slots=True)
class Range:
    """A range of time in UTC, from `start` up to, but not including, `end`, and the length of its windows."""

    start: datetime
    end: datetime
    window: WindowName | None = None


def read_limits(from_: str | None, to: str | None) -> tuple[datetime | None, datetime | None]:
    """Parse the two time limits of a list, and return the earlier limit first.

    A client may send them in either order. None means that there is no limit.
    """
    start, end = (read_timestamp(text) if text else None for text in (from_, to))
    return (end, start) if start and end and start > end else (start, end)


def read_range(
    from_: str | None, to: str | None, window: WindowName | None, *, now: datetime, default: timedelta
) -> Range:
    """Return the requested range. `default` is its length if `from_` is omitted.

    `from_` and `to` may be in either order. There is no data about the future, so a range ends at or before
    `now`, and a range in the future is empty. If a range is too long for one response, only its last part is
    returned.
    """
    end = read_timestamp(to) if to else now
    start = read_timestamp(from_) if from_ else min(end, now) - default
    start, end = min(start, end, now), min(max(start, end), now)
    longest = timedelta(days=MAX_DAYS_OF_HOURS if window == "hour" else MAX_DAYS)
    return Range(max(start, end - longest), end, window)
