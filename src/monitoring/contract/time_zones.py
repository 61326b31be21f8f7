"""Time zones by name (IANA time zone database)."""

from __future__ import annotations

from zoneinfo import ZoneInfo


def find_time_zone(name: str) -> ZoneInfo | None:
    """Return a time zone, or None if there is none of this name."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # a path, a folder, a name that nobody gave a zone
        return None
