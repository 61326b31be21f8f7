"""A summary of a team's open incidents and degraded monitors, also as text for screen readers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from monitoring.app.formatting import isolate
from monitoring.incidents.models import Incident
from monitoring.incidents.service import count_open, list_open, list_urgent
from monitoring.members.service import name_members
from monitoring.monitors.health import Outcome
from monitoring.monitors.models import Monitor
from monitoring.monitors.queries import MonitorFilter, find_among
from monitoring.monitors.service import name_monitors

# The text names at most this many open incidents, and at most this many degraded monitors, because users of a
# screen reader forget the beginning of a long list.
NAMED = 5


class StatusSummary(NamedTuple):
    """A team's open incidents: counts, the most urgent ones with their monitors' names, and the text."""

    open_count: int
    acknowledged_count: int
    open_incidents: Sequence[Incident]
    names: Mapping[UUID, str]
    sentence: str


async def read_status_summary(team_id: UUID) -> StatusSummary:
    """Return a team's current summary. Its text changes whenever another monitor goes down or degrades."""
    open_count, acknowledged_count = await count_open(team_id)
    urgent = await list_urgent(team_id, NAMED)
    names = await name_monitors(team_id, {incident.monitor_id for incident in urgent})
    degraded = Monitor.filter(team_id=team_id, status=Outcome.DEGRADED)
    newest_degraded = await degraded.order_by("-status_changed_at").limit(NAMED)
    sentence = write_sentence(
        (open_count, [names.get(incident.monitor_id, "a monitor") for incident in urgent]),
        (await degraded.count(), [monitor.name for monitor in newest_degraded]),
    )
    return StatusSummary(open_count, acknowledged_count, urgent, names, sentence)


async def narrow_summary(team_id: UUID, summary: StatusSummary, wanted: MonitorFilter) -> StatusSummary:
    """Restrict a summary to the monitors that match a filter. Its text still covers the whole team."""
    if not summary.open_count:
        return summary
    opened = await list_open(team_id)
    found = await find_among(team_id, wanted, {each.monitor_id for each in opened})
    among = [each for each in opened if each.monitor_id in found]
    named = await Incident.in_bulk([each.id for each in among[:NAMED]], "id")
    urgent = [named[each.id] for each in among[:NAMED] if each.id in named]
    return StatusSummary(
        len(among),
        sum(each.is_acknowledged for each in among),
        urgent,
        await name_monitors(team_id, {incident.monitor_id for incident in urgent}),
        summary.sentence,
    )


async def name_responders(team_id: UUID, incidents: Iterable[Incident]) -> dict[str, str]:
    """Return a dictionary with the email and name of each member who acknowledged one of these incidents.

    Resolved incidents are ignored. A program, or a person who is no longer a member, keeps the name stored
    with the acknowledgement.
    """
    responders = {each.acknowledged_by for each in incidents if each.acknowledged_by and not each.resolved_at}
    return await name_members(team_id, responders)


def write_sentence(opened: tuple[int, Sequence[str]], degraded: tuple[int, Sequence[str]]) -> str:
    """Describe how many incidents are open and how many monitors are degraded, with their names.

    Each argument is a count, and the names to list, which may be fewer.
    """
    kinds = [_name(opened, "open incident", "open incidents"), _name(degraded, "degraded", "degraded")]
    return " ".join(filter(None, kinds)) or "No open incidents."


def _name(found: tuple[int, Sequence[str]], one: str, several: str) -> str:
    count, names = found
    if not count:
        return ""
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    return f"{count:,} {one if count == 1 else several}: {', '.join(map(isolate, names))}{more}."
