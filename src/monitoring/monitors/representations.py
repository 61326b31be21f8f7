"""What the document's Monitor schemas look like on the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from monitoring.contract.cursors import encode_cursor
from monitoring.contract.replies import WrittenList
from monitoring.contract.timestamps import write_timestamp
from monitoring.monitors.configuration import configuration_of

if TYPE_CHECKING:
    from monitoring.monitors.models import Monitor
    from monitoring.monitors.reading import MonitorPage
    from monitoring.notifications.models import Mute


def represent_monitor(monitor: Monitor, mute: Mute | None) -> dict[str, Any]:
    """Write a `Monitor` from a monitor, its watch and its mute, with fields in the order of the document."""
    watch = monitor.watch
    return {
        "id": str(monitor.id),
        **configuration_of(monitor),
        "status": monitor.status,
        "status_changed_at": write_timestamp(monitor.status_changed_at),
        "last_checked_at": write_timestamp(watch.last_checked_at),
        "next_check_at": None if monitor.paused else write_timestamp(watch.next_check_at),
        "last_response_time_ms": watch.last_response_time_ms,
        "last_error": watch.last_error,
        "mute": represent_mute(mute) if mute else None,
        "created_at": write_timestamp(monitor.created_at),
        "updated_at": write_timestamp(monitor.updated_at),
    }


def represent_mute(mute: Mute) -> dict[str, Any]:
    """Write a `Mute`."""
    return {"muted_until": write_timestamp(mute.muted_until), "muted_by": mute.muted_by}


def represent_page(page: MonitorPage) -> WrittenList:
    """Write a `MonitorList` of monitors that are JSON already."""
    next_cursor = encode_cursor(page.continues_after) if page.continues_after else None
    return WrittenList(
        "monitors", [written.encode() for written in page.monitors], {"next_cursor": next_cursor}
    )
