"""Brings columns of encrypted text to the first key of ENCRYPTION_KEYS, while the service runs."""

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
    """How many rows were encrypted anew, and how many no key decrypts."""

    encrypted: int
    unreadable: int


async def encrypt_column(rows: QuerySet[Row], column: str) -> Encrypted:
    """Encrypt a column with the first key, where it is plain or another key encrypted it.

    A row that somebody changes meanwhile is left alone, because whoever changed it encrypted it.
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
    """Read these columns and the id of every row, some hundred rows at once."""
    after_id: UUID | None = None
    while True:
        following = rows.filter(id__gt=after_id) if after_id else rows
        found = await following.order_by("id").limit(_READ_AT_ONCE).values("id", *columns)
        for row in found:
            yield row
        if len(found) < _READ_AT_ONCE:
            return
        after_id = found[-1]["id"]
