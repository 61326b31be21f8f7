"""Cursors for pages of checks. They contain the moment of a page's last check, in the usual cursor format."""

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
    """Return the moment in a cursor, or None without one. It is limited to the latest possible datetime."""
    last_id = decode_cursor(cursor)
    return _EPOCH + min(last_id.int, _LAST) * _MICROSECOND if last_id else None
