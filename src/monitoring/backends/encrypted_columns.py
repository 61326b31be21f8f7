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
    """The number of rows that were re-encrypted, and the number of rows that no key decrypts."""

    encrypted: int
    unreadable: int


async def encrypt_column(rows: QuerySet[Row], column: str) -> Encrypted:
    """Encrypt those values of the column in `rows` that are not yet encrypted with the first key.

    A row that another process changes meanwhile is skipped, because that process has encrypted the new value.
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
    """Yield the given columns and the id of every row in order of id, reading 500 rows at a time."""
    after_id: UUID | None = None
    while True:
        following = rows.filter(id__gt=after_id) if after_id else rows
        found = await following.order_by("id").limit(_READ_AT_ONCE).values("id", *columns)
        for row in found:
            yield row
        if len(found) < _READ_AT_ONCE:
            return
        after_id = found[-1]["id"]
