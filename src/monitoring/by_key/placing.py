"""Creates or replaces the row with a certain key, for a PUT to the key's URL. Teams choose the keys.

Monitors, notification channels and maintenance windows have a column `key`. A partial index keeps keys unique
within a team.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from tortoise.models import Model

from monitoring.auth.models import Team
from monitoring.backends.database import transaction
from monitoring.contract.entity_tags import is_current
from monitoring.contract.problems import Problem

MAX_KEY_CHARACTERS = 100  # as the document says

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Conditions:
    """A request's preconditions.

    `If-Match` allows only replacing a certain version. `If-None-Match: *` allows only creating a row.
    """

    if_match: str | None = None
    if_none_match: str | None = None


@dataclass(frozen=True, slots=True)
class Placed(Generic[Row]):
    """The created or replaced row, and the dotted names of the fields that a replacement changed."""

    row: Row
    is_new: bool
    changed_fields: Collection[str] = ()


async def place(  # noqa: PLR0913 - the three kinds of rows differ in these
    rows: type[Row],
    team_id: UUID,
    key: str,
    conditions: Conditions,
    *,
    create: Callable[[], Awaitable[Row]],
    replace: Callable[[UUID], Awaitable[tuple[Row, Collection[str]]]],
    exists: Problem,
    changed: Problem,
) -> Placed[Row]:
    """Create the team's row with this key, or replace the existing one, in one transaction.

    The team is locked, so that the second of two concurrent requests finds the row that the first created.
    `replace` checks `If-Match`. Raises `exists` if a row exists although `If-None-Match` forbids it. Raises
    `changed` if no row exists although `If-Match` requires one.
    """
    async with transaction():
        await Team.lock(team_id)
        found: Any = await rows.filter(team_id=team_id, key=key).values_list("id", flat=True)
        if found and conditions.if_none_match:
            raise exists
        if found:
            row, changed_fields = await replace(found[0])
            return Placed(row, is_new=False, changed_fields=changed_fields)
        if conditions.if_match is not None:
            is_current(conditions.if_match, version="")  # raises Problem for a weak tag
            raise changed
        return Placed(await create(), is_new=True)


async def demand_free_key(row: Any, key: str | None) -> None:  # noqa: ANN401 - any of the three kinds
    """Raise Problem if another row of the team has this key. The caller must have locked the team."""
    if key not in (None, row.key) and await type(row).filter(team_id=row.team_id, key=key).exists():
        raise Problem("key_taken")
