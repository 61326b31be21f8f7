"""Re-encrypts columns with the first key of ENCRYPTION_KEYS, while the service runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from tortoise.models import Model
from tortoise.queryset import QuerySet

from monitoring.backends.encryption import UndecryptableError, decrypt, encrypt, is_up_to_date

Row = TypeVar("Row", bound="Model")

_READ_AT_ONCE = 500


class Encrypted(NamedTuple):
    """How many rows were re-encrypted, and how many cannot be decrypted."""

    encrypted: int
    unreadable: int


async def encrypt_column(rows: QuerySet[Row], column: str) -> Encrypted:
    """Encrypt a column with the first key, where it is plain or encrypted with another key.

    A row that changes meanwhile is skipped, because the change has encrypted it.
    """
    encrypted = unreadable = 0
    async for row in read_in_order(rows, column):
        if is_up_to_date(stored := row[column]):
            continue
        try:
            anew = encrypt(decrypt(stored))
        except UndecryptableError:
            unreadable += 1
        else:
            encrypted += await rows.filter(id=row["id"], **{column: stored}).update(**{column: anew})
    return Encrypted(encrypted, unreadable)


async def read_in_order(rows: QuerySet[Row], *columns: str) -> AsyncIterator[dict[str, Any]]:
    """Yield these columns and the id of every row, reading some hundred rows at a time."""
    after_id: UUID | None = None
    while True:
        following = rows.filter(id__gt=after_id) if after_id else rows
        found = await following.order_by("id").limit(_READ_AT_ONCE).values("id", *columns)
        for row in found:
            yield row
        if len(found) < _READ_AT_ONCE:
            return
        after_id = found[-1]["id"]
