"""When a monitor is checked next. Pure.

Each monitor has its own grid of moments, one per interval, so that monitors created together are not checked
together. Missed checks are not made up for.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from uuid import UUID

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def next_slot(monitor_id: UUID, interval_seconds: int, after: datetime) -> datetime:
    """Return the first moment strictly after `after` on the monitor's grid, in UTC.

    Every process gets the same result, which is exact to the microsecond.
    """
    interval = interval_seconds * 1_000_000
    passed = (after - _EPOCH) // _MICROSECOND
    since_last_slot = (passed - _phase(monitor_id)) % interval
    return _EPOCH + timedelta(microseconds=passed - since_last_slot + interval)


def next_check_at(
    monitor_id: UUID, *, is_settling: bool, interval_seconds: int, retry_interval_seconds: int, now: datetime
) -> datetime:
    """Return when to check next: at the next slot, or after the retry interval while a streak is confirmed.

    A retry ignores the slots before it, because two failures a moment apart would confirm nothing. A retry
    interval longer than the interval is shortened to it.
    """
    if is_settling:
        return now + timedelta(seconds=min(retry_interval_seconds, interval_seconds))
    return next_slot(monitor_id, interval_seconds, now)


def _phase(monitor_id: UUID) -> int:
    """Return a pseudorandom number from the id, which itself begins with the time (RFC 9562 §5.7)."""
    return int.from_bytes(blake2b(monitor_id.bytes, digest_size=8).digest())
