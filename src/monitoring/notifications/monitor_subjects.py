"""The properties of a monitor that notifications and incidents use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from monitoring.auth.models import Team
from monitoring.contract.document import Json


class MonitorSubject(Protocol):
    """The monitor properties that incidents use. The monitor model implements this protocol."""

    @property
    def id(self) -> UUID:
        """The monitor's id."""

    @property
    def team_id(self) -> UUID:
        """The id of the team that owns the monitor."""

    @property
    def name(self) -> str:
        """The monitor's name."""

    @property
    def url(self) -> str:
        """The URL that the monitor checks."""

    @property
    def tags(self) -> Sequence[str]:
        """The monitor's tags, by which channels select monitors."""


@dataclass(frozen=True, slots=True)
class KnownMonitor:
    """A `MonitorSubject` that is not a database row."""

    id: UUID
    team_id: UUID
    name: str
    url: str
    tags: Sequence[str]


def describe_monitor(monitor: MonitorSubject) -> dict[str, Json]:
    """Render a monitor as the schema `NotificationMonitor` describes it."""
    return {"id": str(monitor.id), "name": monitor.name, "url": monitor.url, "tags": list(monitor.tags)}


async def find_monitor(team_id: UUID, monitor_id: UUID) -> KnownMonitor | None:
    """Return a team's monitor, or None if the team has no such monitor.

    The query uses the relation's name, because importing the monitor model would be a circular import.
    """
    monitors = Team.filter(id=team_id, monitors__id=monitor_id)
    found = await monitors.first().values("monitors__name", "monitors__url", "monitors__tags")
    if found is None:
        return None
    return KnownMonitor(
        monitor_id, team_id, found["monitors__name"], found["monitors__url"], found["monitors__tags"]
    )
