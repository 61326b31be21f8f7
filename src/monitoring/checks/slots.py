"""When a monitor is checked next. Pure.

Each monitor has a grid of moments of its own, one an interval, so that monitors made together are not checked
together. What was missed lies behind and is not made up for.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID

RECHECK = timedelta(seconds=10)  # below every interval

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def next_slot(monitor_id: UUID, interval_seconds: int, after: datetime) -> datetime:
    """Return the first moment strictly after `after` on the monitor's grid, in UTC.

    The same in every process, and exact to the microsecond however long ago the grid began.
    """
    interval = interval_seconds * 1_000_000
    passed = (after - _EPOCH) // _MICROSECOND
    since_last_slot = (passed - _phase(monitor_id)) % interval
    return _EPOCH + timedelta(microseconds=passed - since_last_slot + interval)


def next_check_at(monitor_id: UUID, *, is_settling: bool, interval_seconds: int, now: datetime) -> datetime:
    """Return when to check next: on the grid, or soon while a streak is to be confirmed.

    Then a slot in between is left out: two failures a moment apart would confirm nothing.
    """
    return now + RECHECK if is_settling else next_slot(monitor_id, interval_seconds, now)


def _phase(monitor_id: UUID) -> int:
    """Return a number as good as random. Ids themselves are not: they begin with the time (RFC 9562 §5.7)."""
    return int.from_bytes(blake2b(monitor_id.bytes, digest_size=8).digest())
