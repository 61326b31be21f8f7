"""Time zones by name (IANA time zone database)."""

from __future__ import annotations

from zoneinfo import ZoneInfo


def find_time_zone(name: str) -> ZoneInfo | None:
    """Return the time zone with this name. None if there is no such zone."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # a path, a folder or an unknown name
        return None
