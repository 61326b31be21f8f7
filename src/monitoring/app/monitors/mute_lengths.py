"""The offered lengths of a mute. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from monitoring.contract.problems import Problem

# In hours. The first is the default: it ends by itself if everybody forgets the mute.
MUTE_LENGTHS = {
    "1": "for 1 hour",
    "8": "for 8 hours",
    "24": "for a day",
    "168": "for a week",
    "": "until unmuted",
}


def mute_end(hours: str, now: datetime) -> datetime | None:
    """Return the end of a mute that begins now; None if it lasts until unmuted. Raises Problem."""
    if hours not in MUTE_LENGTHS:
        raise Problem("not_found")
    return now + timedelta(hours=int(hours)) if hours else None
