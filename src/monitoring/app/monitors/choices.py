"""A form's checkboxes for monitors: first the ticked monitors, then the others, both sorted by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from monitoring.monitors.service import name_monitors, name_newest_monitors

# A form with more checkboxes would be slow to load and hard to scan.
MAX_OFFERED = 1000
NEWEST_OFFERED = 50

# The label of a deleted monitor. Its checkbox stays ticked until somebody unticks it, because a form without
# ticked monitors applies to all monitors.
DELETED = "A deleted monitor"


class MonitorChoices(NamedTuple):
    """The offered monitors' names by id. `are_more` is true if the team has too many monitors to list all."""

    names: dict[str, str]
    ticked: set[str]
    are_more: bool


async def list_monitor_choices(team_id: UUID, chosen: Sequence[str]) -> MonitorChoices:
    """Return the chosen monitors, and the team's other monitors.

    If the team has more than `MAX_OFFERED` monitors, only the team's newest monitors are returned in addition
    to the chosen ones. Text in `chosen` that is not an id is ignored.
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
    """Parse UUIDs. Any other text is ignored."""
    ids = []
    for text in texts:
        try:
            ids.append(UUID(text))
        except ValueError:
            continue
    return ids


def _sort(names: dict[UUID, str]) -> dict[UUID, str]:
    return dict(sorted(names.items(), key=lambda each: (each[1].casefold(), each[0])))
