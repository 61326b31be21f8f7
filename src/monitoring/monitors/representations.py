"""Renders monitors as the OpenAPI document's schemas describe them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from monitoring.backends.encryption import UndecryptableError
from monitoring.contract.cursors import PagedList, next_cursor
from monitoring.contract.timestamps import write_timestamp
from monitoring.monitors.configuration import represent_configuration
from monitoring.monitors.contracts.keeping import show_contract
from monitoring.monitors.heartbeats.tokens import ping_url_of
from monitoring.monitors.queries import MonitorPage, MonitorRow


def represent_monitor(monitor: MonitorRow) -> dict[str, Any]:
    """Render a monitor's row as the schema `Monitor` describes it."""
    return {
        "id": str(monitor["id"]),
        "key": monitor["key"],
        **represent_configuration(monitor),
        "contract": show_contract(monitor),
        **_represent_ping_url(monitor["encrypted_token"]),
        "status": monitor["status"],
        "status_changed_at": write_timestamp(monitor["status_changed_at"]),
        "last_checked_at": write_timestamp(monitor["last_checked_at"]),
        "next_check_at": None if monitor["paused"] else write_timestamp(monitor["next_check_at"]),
        "last_response_time_ms": monitor["last_response_time_ms"],
        "last_error": monitor["last_error"],
        "mute": represent_mute(monitor["muted_until"], monitor["muted_by"]) if monitor["is_muted"] else None,
        "created_at": write_timestamp(monitor["created_at"]),
        "updated_at": write_timestamp(monitor["updated_at"]),
    }


def _represent_ping_url(encrypted_token: str | None) -> dict[str, Any]:
    """Render a heartbeat's ping URL. It is left out if there is no token, or if no key decrypts the token."""
    if encrypted_token is None:
        return {}
    try:
        return {"ping_url": ping_url_of(encrypted_token)}
    except UndecryptableError:
        return {}


def represent_mute(muted_until: datetime | None, muted_by: str | None) -> dict[str, Any]:
    """Render a mute as the schema `Mute` describes it."""
    return {"muted_until": write_timestamp(muted_until), "muted_by": muted_by}


def represent_page(page: MonitorPage) -> dict[str, Any]:
    """Render a page of monitors as the schema `MonitorList` describes it."""
    return {
        "monitors": [represent_monitor(monitor) for monitor in page.monitors],
        "next_cursor": next_cursor(PagedList.MONITORS, page.continues_after),
    }
