"""What the document's Monitor schemas look like on the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from monitoring.monitors.configuration import configuration_of
from monitoring.monitors.cursors import encode_cursor

if TYPE_CHECKING:
    from datetime import datetime

    from monitoring.monitors.models import Monitor
    from monitoring.monitors.service import Page


def represent_monitor(monitor: Monitor) -> dict[str, Any]:
    """Write a `Monitor`, its fields in the order of the document."""
    return {
        "id": str(monitor.id),
        **configuration_of(monitor),
        "status": monitor.status,
        "status_changed_at": _timestamp(monitor.status_changed_at),
        "last_checked_at": _timestamp(monitor.last_checked_at),
        "next_check_at": _timestamp(monitor.next_check_at),
        "last_response_time_ms": monitor.last_response_time_ms,
        "last_error": monitor.last_error,
        "created_at": _timestamp(monitor.created_at),
        "updated_at": _timestamp(monitor.updated_at),
    }


def represent_page(page: Page) -> dict[str, Any]:
    """Write a `MonitorList`."""
    return {
        "monitors": [represent_monitor(monitor) for monitor in page.monitors],
        "next_cursor": encode_cursor(page.monitors[-1].id) if page.has_more else None,
    }


def _timestamp(moment: datetime | None) -> str | None:
    """Write RFC 3339 in UTC, always with six digits: such timestamps sort as text."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if moment else None
