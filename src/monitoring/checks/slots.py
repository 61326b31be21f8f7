"""Computes when a monitor is checked next. Has no side effects.

Each monitor has its own slots: one moment per interval, with an offset that depends on the monitor's id.
Monitors that are created together are therefore not checked together. Missed checks are not made up for
later.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from uuid import UUID

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def next_slot(monitor_id: UUID, interval_seconds: int, after: datetime) -> datetime:
    """Return the monitor's first slot strictly after `after`, in UTC.

    Every process computes the same slots, exact to the microsecond.
    """
    interval = interval_seconds * 1_000_000
    passed = (after - _EPOCH) // _MICROSECOND
    since_last_slot = (passed - _phase(monitor_id)) % interval
    return _EPOCH + timedelta(microseconds=passed - since_last_slot + interval)


def next_check_at(
    monitor_id: UUID, *, is_settling: bool, interval_seconds: int, retry_interval_seconds: int, now: datetime
) -> datetime:
    """Return when to check next: at the next slot or, while `is_settling`, after the retry interval.

    `is_settling` means that further checks must confirm the last outcome. If there is a slot before the
    retry, the slot is ignored, because a second failure right after the first would confirm nothing. The
    retry interval is at most the interval.
    """
    if is_settling:
        return now + timedelta(seconds=min(retry_interval_seconds, interval_seconds))
    return next_slot(monitor_id, interval_seconds, now)


def _phase(monitor_id: UUID) -> int:
    """Return a pseudorandom number for a monitor.

    The number is a hash of the id, because the id itself is not random: it begins with a timestamp (RFC 9562
    §5.7).
    """
    return int.from_bytes(blake2b(monitor_id.bytes, digest_size=8).digest())
