"""Reads a monitor's time in maintenance."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from monitoring.monitors.maintenance.models import MaintenanceSpan

Span = tuple[datetime, datetime]


async def read_spans(monitor_id: UUID, start: datetime, end: datetime) -> list[Span]:
    """Return a monitor's maintenance spans that overlap a range, in order. Spans are not cut to the range."""
    spans = MaintenanceSpan.filter(monitor_id=monitor_id, ends_at__gt=start, starts_at__lt=end)
    return list(await spans.order_by("starts_at").values_list("starts_at", "ends_at"))


def is_within(spans: Sequence[Span], moment: datetime) -> bool:
    """Return whether any span contains `moment`. The spans must be in order and must not overlap."""
    begun = bisect_right(spans, moment, key=lambda span: span[0])
    return begun > 0 and moment < spans[begun - 1][1]
