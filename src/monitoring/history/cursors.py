"""Cursors for pages of checks. A cursor contains the time of a page's last check, encoded like an id."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from monitoring.contract.cursors import PagedList, decode_cursor, encode_cursor

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


def encode_moment(moment: datetime) -> str:
    """Return the cursor of the page that begins after the check at `moment`."""
    return encode_cursor(PagedList.CHECKS, UUID(int=(moment - _EPOCH) // _MICROSECOND))


def decode_moment(cursor: str | None) -> datetime | None:
    """Return the time in a cursor, or None if `cursor` is None. A time too late for a datetime is clamped."""
    last_id = decode_cursor(cursor)
    return _EPOCH + min(last_id.int, _LAST) * _MICROSECOND if last_id else None
