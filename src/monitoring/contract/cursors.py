"""Where a page ends: the letter of its list and the id of its last row, opaque to clients.

The pattern that the document has for a list allows the 22 characters of every UUID after the list's letter,
or without it as 0.1.0 wrote them, and nothing else. So no cursor is refused that its pattern allows.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from enum import StrEnum
from uuid import UUID

CURSOR_CHARACTERS = 22  # 16 bytes in base64url without padding


class PagedList(StrEnum):
    """A list, and the letter with which its cursors begin."""

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
    """Write the cursor of the page after a row."""
    return f"{of}{urlsafe_b64encode(last_id.bytes)[:CURSOR_CHARACTERS].decode()}"


def next_cursor(of: PagedList, last_id: UUID | None) -> str | None:
    """Write the cursor of the next page; None if no page follows."""
    return encode_cursor(of, last_id) if last_id else None


def decode_cursor(cursor: str | None) -> UUID | None:
    """Read a cursor; None begins with the first page. Raises ValueError for one that no list has."""
    if cursor is None:
        return None
    if len(cursor) not in (CURSOR_CHARACTERS, CURSOR_CHARACTERS + 1):
        raise ValueError("not as long as a cursor")
    return UUID(bytes=urlsafe_b64decode(f"{cursor[-CURSOR_CHARACTERS:]}=="))
