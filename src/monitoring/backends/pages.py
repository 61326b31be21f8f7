"""Reads lists of rows, one page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from tortoise.models import Model
from tortoise.queryset import QuerySet

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Rows in order, and the id of the last one if others follow it."""

    rows: list[Row]
    continues_after: UUID | None


def take_page(rows: Sequence[Row], limit: int, after_id: UUID | None) -> Page[Row]:
    """Return a page of rows that were all read already, newest first."""
    following = [row for row in rows if after_id is None or row.pk < after_id]
    return Page(following[:limit], following[limit - 1].pk if len(following) > limit else None)


async def read_page(rows: QuerySet[Row], limit: int, after_id: UUID | None) -> Page[Row]:
    """Read up to `limit` rows, newest first, from the one after `after_id` on. Ids must be UUIDv7."""
    following = rows.filter(id__lt=after_id) if after_id else rows
    found = await following.order_by("-id").limit(limit + 1)
    return Page(found[:limit], found[limit - 1].pk if len(found) > limit else None)
