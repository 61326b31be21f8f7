"""Renders maintenance windows as the OpenAPI document's schemas describe them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from monitoring.backends.pages import Page
from monitoring.contract.cursors import PagedList, next_cursor
from monitoring.contract.timestamps import write_timestamp
from monitoring.monitors.maintenance.covering import next_start_of, occurrence_of
from monitoring.monitors.maintenance.models import MaintenanceWindow


def represent_window(window: MaintenanceWindow, now: datetime) -> dict[str, Any]:
    """Render a window as the schema `MaintenanceWindow` describes it, with its state at `now`."""
    occurrence = occurrence_of(window, now)
    active_until = occurrence.ends_at if occurrence and occurrence.starts_at <= now else None
    return {
        "id": str(window.id),
        "key": window.key,
        "name": window.name,
        "starts_at": write_timestamp(window.starts_at),
        "duration_seconds": window.duration_seconds,
        "recurrence": window.recurrence,
        "time_zone": window.time_zone,
        "monitor_ids": window.monitor_ids,
        "tags": window.tags,
        "state": "active" if active_until else "scheduled" if occurrence else "ended",
        "active_until": write_timestamp(active_until),
        "next_starts_at": write_timestamp(next_start_of(window, now)),
        "created_at": write_timestamp(window.created_at),
        "updated_at": write_timestamp(window.updated_at),
    }


def represent_windows(page: Page[MaintenanceWindow], now: datetime) -> dict[str, Any]:
    """Render a page of windows as the schema `MaintenanceWindowList` describes it."""
    return {
        "maintenance_windows": [represent_window(window, now) for window in page.rows],
        "next_cursor": next_cursor(PagedList.MAINTENANCE_WINDOWS, page.continues_after),
    }
