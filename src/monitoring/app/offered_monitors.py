"""The monitors that a form offers to tick: the team's newest, and those that are ticked already."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from monitoring.monitors.service import name_monitors, name_newest_monitors

if TYPE_CHECKING:
    from collections.abc import Sequence

MONITORS_OFFERED = 50

# Stays ticked until somebody unticks it. Without it, a choice of deleted monitors would become one of all.
DELETED = "A deleted monitor"


class OfferedMonitors(NamedTuple):
    """Monitors by id, with their names. `are_more` says that the team has others."""

    names: dict[str, str]
    ticked: set[str]
    are_more: bool


async def offer_monitors(team_id: UUID, chosen: Sequence[str]) -> OfferedMonitors:
    """Offer the newest monitors of a team, and those that are chosen. What is no id is left out."""
    newest = await name_newest_monitors(team_id, MONITORS_OFFERED + 1)
    are_more = len(newest) > MONITORS_OFFERED
    offered = dict(list(newest.items())[:MONITORS_OFFERED])
    ids = _read_ids(chosen)
    known = await name_monitors(team_id, ids)
    ticked = {each: known.get(each, DELETED) for each in ids}
    names = {str(each): name for each, name in (ticked | offered).items()}
    return OfferedMonitors(names, set(map(str, ticked)), are_more)


def _read_ids(texts: Sequence[str]) -> list[UUID]:
    ids = []
    for text in texts:
        try:
            ids.append(UUID(text))
        except ValueError:
            continue
    return ids
