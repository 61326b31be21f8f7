"""Page cursors, opaque to clients: the list's letter and the id of the page's last row.

The document's pattern for a list's cursors allows only the list's letter, followed by the 22 characters of a
UUID. The letter is optional, because cursors from 0.1.0 lack it. So every cursor that matches its pattern can
be decoded.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from enum import StrEnum
from uuid import UUID

CURSOR_CHARACTERS = 22  # 16 bytes in base64url without padding


class PagedList(StrEnum):
    """A paginated list. The value is the first letter of its cursors."""

    ARTICLES = "a"
    AUDIT_ENTRIES = "l"
    CHECKS = "c"
    INCIDENTS = "i"
    INCIDENT_NOTES = "n"
    MAINTENANCE_WINDOWS = "w"
    MONITORS = "m"
    NOTIFICATION_CHANNELS = "h"
    NOTIFICATION_DELIVERIES = "d"
    PINGS = "p"
    TRANSLATION_SEGMENTS = "s"


def encode_cursor(of: PagedList, last_id: UUID) -> str:
    """Return the cursor of the page that begins after the row `last_id`."""
    return f"{of}{urlsafe_b64encode(last_id.bytes)[:CURSOR_CHARACTERS].decode()}"


def next_cursor(of: PagedList, last_id: UUID | None) -> str | None:
    """Return the cursor of the next page. None if `last_id` is None, because no page follows."""
    return encode_cursor(of, last_id) if last_id else None


def decode_cursor(cursor: str | None) -> UUID | None:
    """Return the id of the row after which a page begins. None for the first page, which has no cursor.

    Raises ValueError if the cursor is malformed.
    """
    if cursor is None:
        return None
    if len(cursor) not in (CURSOR_CHARACTERS, CURSOR_CHARACTERS + 1):
        raise ValueError("not as long as a cursor")
    return UUID(bytes=urlsafe_b64decode(f"{cursor[-CURSOR_CHARACTERS:]}=="))
