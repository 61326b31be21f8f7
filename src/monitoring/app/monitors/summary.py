"""What is wrong with a team's monitors, in one sentence for those who read a page with a screen reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from monitoring.app.formatting import isolate
from monitoring.incidents.models import Incident, IncidentState
from monitoring.incidents.service import count_open, list_incidents
from monitoring.members.service import name_members
from monitoring.monitors.health import Outcome
from monitoring.monitors.models import Monitor
from monitoring.monitors.service import name_monitors

# The newest of each kind. Whoever hears more than a few forgets the first.
NAMED = 5


class TeamNews(NamedTuple):
    """The open incidents of a team, the newest of them with the names of their monitors, and a sentence."""

    open_count: int
    acknowledged_count: int
    open_incidents: Sequence[Incident]
    names: Mapping[UUID, str]
    says: str


async def read_news(team_id: UUID) -> TeamNews:
    """Read what is wrong now. The sentence differs as soon as another monitor goes down or is degraded."""
    open_count, acknowledged_count = await count_open(team_id)
    newest = await list_incidents(team_id, None, IncidentState.OPEN, NAMED, None)
    names = await name_monitors(team_id, {incident.monitor_id for incident in newest.rows})
    degraded = Monitor.filter(team_id=team_id, status=Outcome.DEGRADED)
    newest_degraded = await degraded.order_by("-status_changed_at").limit(NAMED)
    says = say(
        (open_count, [names.get(incident.monitor_id, "a monitor") for incident in newest.rows]),
        (await degraded.count(), [monitor.name for monitor in newest_degraded]),
    )
    return TeamNews(open_count, acknowledged_count, newest.rows, names, says)


async def name_takers(team_id: UUID, incidents: Iterable[Incident]) -> dict[str, str]:
    """Name who takes care of the open ones of these incidents, by what an acknowledgement says of them.

    Members have names. A program, or somebody who is no member any more, has none.
    """
    takers = {each.acknowledged_by for each in incidents if each.acknowledged_by and not each.resolved_at}
    names = await name_members(team_id, takers)
    return {taker: names.get(taker) or taker for taker in takers}


def say(opened: tuple[int, Sequence[str]], degraded: tuple[int, Sequence[str]]) -> str:
    """Say how many incidents are open and how many monitors degraded, and name some of them."""
    kinds = [_name(opened, "open incident", "open incidents"), _name(degraded, "degraded", "degraded")]
    return " ".join(filter(None, kinds)) or "No open incidents."


def _name(found: tuple[int, Sequence[str]], one: str, several: str) -> str:
    count, names = found
    if not count:
        return ""
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    return f"{count:,} {one if count == 1 else several}: {', '.join(map(isolate, names))}{more}."
