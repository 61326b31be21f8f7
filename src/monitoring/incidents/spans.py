"""The time spans of a monitor's incidents."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from tortoise.expressions import Q

from monitoring.incidents.models import Incident

# The most time spans to read. A chart cannot display more of them.
MAX_SPANS = 500


async def read_incident_spans(
    monitor_id: UUID, start: datetime, end: datetime
) -> list[tuple[datetime, datetime]]:
    """Return the start and end of each of the newest incidents that overlap a time range, oldest first.

    The end of an open incident is the end of the range.
    """
    incidents = Incident.filter(
        Q(resolved_at=None) | Q(resolved_at__gt=start), monitor_id=monitor_id, started_at__lt=end
    )
    newest = await incidents.order_by("-id").limit(MAX_SPANS).values_list("started_at", "resolved_at")
    return [(started_at, resolved_at or end) for started_at, resolved_at in reversed(newest)]
