"""Monitors in groups by their tags, worst group first. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

from monitoring.monitors.queries import Outline

# So that the page of a team with thousands of monitors stays small. A link leads to the rest of a group.
MAX_GROUPS = 28

_WORRYING = ("down", "validating", "degraded")


class Group(NamedTuple):
    """The monitors with one tag, or those without any. `shown` are the first of them."""

    tag: str | None
    counts: Counter[str]
    shown: Sequence[UUID]

    @property
    def total(self) -> int:
        """How many monitors the group has."""
        return self.counts.total()


def group_by_tag(outlines: Iterable[Outline], max_rows: int, only: str | None = None) -> list[Group]:
    """Put monitors into the group of each of their tags. The order within a group stays.

    About `max_rows` of them are shown in all, and at least one of each group. The head of a group takes as
    much room as a row.

    `only` is a tag that all of them have, because a filter has chosen it: others make no groups then.
    """
    members: defaultdict[str | None, list[Outline]] = defaultdict(list)
    for outline in outlines:
        for tag in outline.tags or (None,):
            if only in (None, tag):
                members[tag].append(outline)
    groups = [
        Group(tag, Counter(each.status for each in found), [each.id for each in found])
        for tag, found in members.items()
    ]
    groups = sorted(groups, key=_place)[:MAX_GROUPS]
    room = max(1, max_rows // max(len(groups), 1) - 1)
    return [group._replace(shown=group.shown[:room]) for group in groups]


def _place(group: Group) -> tuple[object, ...]:
    """Order groups by what is wrong in them, then by name. Monitors without a tag come last."""
    worries = tuple(-group.counts[status] for status in _WORRYING)
    return (group.tag is None, *worries, group.tag or "")
