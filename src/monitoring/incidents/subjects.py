"""Who an incident is about, for those who have no row of the monitor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class KnownMonitor:
    """A monitor, as far as those who are told of it need to know: a `MonitorSubject` of `service`."""

    id: UUID
    team_id: UUID
    name: str
    url: str
