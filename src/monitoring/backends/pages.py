"""Pagination of row lists."""

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
    """A page of rows. `continues_after` is the id of its last row, or None if no rows follow."""

    rows: list[Row]
    continues_after: UUID | None


def take_page(rows: Sequence[Row], limit: int, after_id: UUID | None) -> Page[Row]:
    """Return the page of up to `limit` rows that follow the row `after_id`. `rows` must be newest first."""
    following = [row for row in rows if after_id is None or row.pk < after_id]
    return Page(following[:limit], following[limit - 1].pk if len(following) > limit else None)


async def read_page(rows: QuerySet[Row], limit: int, after_id: UUID | None) -> Page[Row]:
    """Return the page of up to `limit` rows, newest first, that follow `after_id`. Ids must be UUIDv7."""
    following = rows.filter(id__lt=after_id) if after_id else rows
    found = await following.order_by("-id").limit(limit + 1)
    return Page(found[:limit], found[limit - 1].pk if len(found) > limit else None)
