"""The monitor that an incident is about, for callers that have no row of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class KnownMonitor:
    """What notifications say about a monitor. Fulfils `MonitorSubject` of `service`."""

    id: UUID
    team_id: UUID
    name: str
    url: str
