"""For how long people mute monitors. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from monitoring.contract.problems import Problem

# In hours. The first is offered at first: it ends by itself, should nobody think of it again.
MUTE_LENGTHS = {
    "1": "for 1 hour",
    "8": "for 8 hours",
    "24": "for a day",
    "168": "for a week",
    "": "until unmuted",
}


def mute_end(hours: str, now: datetime) -> datetime | None:
    """Return when a mute ends that begins now; None if it does not end by itself. Raises Problem."""
    if hours not in MUTE_LENGTHS:
        raise Problem("not_found")
    return now + timedelta(hours=int(hours)) if hours else None
