"""The monitors that a form offers to tick: those that are ticked already, and then the others by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from monitoring.monitors.service import name_monitors, name_newest_monitors

# A form with more boxes would be slow to load and to look through.
MAX_OFFERED = 1000
NEWEST_OFFERED = 50

# Stays ticked until somebody unticks it. Without it, a choice of deleted monitors would become one of all.
DELETED = "A deleted monitor"


class MonitorChoices(NamedTuple):
    """Monitors by id, with their names. `are_more` is whether the team has too many to offer all of them."""

    names: dict[str, str]
    ticked: set[str]
    are_more: bool


async def list_monitor_choices(team_id: UUID, chosen: Sequence[str]) -> MonitorChoices:
    """Offer those that are chosen, and the team's others: the newest, if it has very many.

    Text that is not an id is left out.
    """
    others = await name_newest_monitors(team_id, MAX_OFFERED + 1)
    are_more = len(others) > MAX_OFFERED
    if are_more:
        others = dict(list(others.items())[:NEWEST_OFFERED])
    ids = read_ids(chosen)
    known = await name_monitors(team_id, ids)
    ticked = {each: known.get(each, DELETED) for each in ids}
    names = {str(each): name for each, name in (_sort(ticked) | _sort(others)).items()}
    return MonitorChoices(names, set(map(str, ticked)), are_more)


def read_ids(texts: Sequence[str]) -> list[UUID]:
    """Read ids. Text that is not an id is left out."""
    ids = []
    for text in texts:
        try:
            ids.append(UUID(text))
        except ValueError:
            continue
    return ids


def _sort(names: dict[UUID, str]) -> dict[UUID, str]:
    return dict(sorted(names.items(), key=lambda each: (each[1].casefold(), each[0])))
