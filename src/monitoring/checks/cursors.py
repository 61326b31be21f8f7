"""Where a page of checks ends: the moment of its last check, in the form of every other cursor."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from monitoring.contract.cursors import decode_cursor, encode_cursor
from monitoring.contract.problems import Problem

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def encode_moment(moment: datetime) -> str:
    """Write the cursor of the page after a check."""
    return encode_cursor(UUID(int=(moment - _EPOCH) // _MICROSECOND))


def decode_moment(cursor: str) -> datetime:
    """Read a cursor. Raises Problem for everything `encode_moment` would not write."""
    try:
        return _EPOCH + decode_cursor(cursor).int * _MICROSECOND
    except OverflowError:
        raise Problem("cursor_invalid") from None
