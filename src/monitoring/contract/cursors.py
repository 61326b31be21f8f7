"""Where a page ends: the id of its last row, opaque to clients."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from contextlib import suppress
from uuid import UUID

from monitoring.contract.problems import Problem

CURSOR_CHARACTERS = 22  # 16 bytes in base64url without padding


def encode_cursor(last_id: UUID) -> str:
    """Write the cursor of the page after a row."""
    return urlsafe_b64encode(last_id.bytes)[:CURSOR_CHARACTERS].decode()


def decode_cursor(cursor: str) -> UUID:
    """Read a cursor. Raises Problem for everything `encode_cursor` would not write."""
    with suppress(ValueError):
        last_id = UUID(bytes=urlsafe_b64decode(f"{cursor}=="))
        if encode_cursor(last_id) == cursor:
            return last_id
    raise Problem("cursor_invalid")
