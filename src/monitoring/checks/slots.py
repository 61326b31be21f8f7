"""When a monitor is checked next. Pure.

Each monitor has its own grid of moments, one in every interval, so that monitors which were created together
are not checked together. Checks that were missed are not made up for.
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
    """Return when to check next: at the next slot, or after the retry interval to confirm a streak.

    In that case a slot before it is skipped, because two failures a moment apart would confirm nothing. A
    retry interval that is longer than the interval counts as that.
    """
    if is_settling:
        return now + timedelta(seconds=min(retry_interval_seconds, interval_seconds))
    return next_slot(monitor_id, interval_seconds, now)


def _phase(monitor_id: UUID) -> int:
    """Return a number as good as random. The id itself is not: it begins with the time (RFC 9562 §5.7)."""
    return int.from_bytes(blake2b(monitor_id.bytes, digest_size=8).digest())
