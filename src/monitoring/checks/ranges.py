"""The time a client asks about: from when to when, and how it is divided. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from monitoring.contract.problems import Problem
from monitoring.contract.timestamps import read_timestamp

if TYPE_CHECKING:
    from datetime import datetime

WindowName = Literal["hour", "day"]

MAX_DAYS_OF_HOURS = 31
MAX_DAYS = 400


@dataclass(frozen=True, slots=True)
class Range:
    """What is measured: from `start` until before `end`, in UTC, divided into windows if there are any."""

    start: datetime
    end: datetime
    window: WindowName | None = None


def read_limits(from_: str | None, to: str | None) -> tuple[datetime | None, datetime | None]:
    """Read from when and until when a list goes; None does not matter.

    Raises Problem when it ends before it begins.
    """
    start, end = (read_timestamp(text) if text else None for text in (from_, to))
    if start and end and start >= end:
        raise Problem("range_reversed")
    return start, end


def read_range(
    from_: str | None, to: str | None, window: WindowName | None, *, now: datetime, default: timedelta
) -> Range:
    """Read what a client asks for; `default` is how long the range is when `from` is left out.

    Nothing is known of the future: the range ends now, and begins now when all of it lies ahead. Raises
    Problem when it ends before it begins, or is longer than can be told at once.
    """
    asked_end = read_timestamp(to) if to else now
    end = min(asked_end, now)
    start = read_timestamp(from_) if from_ else end - default
    if start >= asked_end:
        raise Problem("range_reversed")
    max_days = MAX_DAYS_OF_HOURS if window == "hour" else MAX_DAYS
    if end - start > timedelta(days=max_days):
        raise Problem("range_too_long", max_days=max_days)
    return Range(min(start, end), end, window)
