"""Where a page ends: the id of its last row, opaque to clients.

The document's pattern allows the 22 characters of every UUID and nothing else, so that no cursor is refused.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from uuid import UUID

CURSOR_CHARACTERS = 22  # 16 bytes in base64url without padding


def encode_cursor(last_id: UUID) -> str:
    """Write the cursor of the page after a row."""
    return urlsafe_b64encode(last_id.bytes)[:CURSOR_CHARACTERS].decode()


def decode_cursor(cursor: str) -> UUID:
    """Read a cursor. Raises ValueError for one that the document does not allow."""
    return UUID(bytes=urlsafe_b64decode(f"{cursor}=="))
