"""The lengths of time for which users can mute a monitor. Has no side effects."""

from __future__ import annotations

from datetime import datetime, timedelta

from monitoring.contract.problems import Problem

# The keys are in hours. The first is the default, so that a mute soon ends by itself if everybody forgets
# about it.
MUTE_LENGTHS = {
    "1": "for 1 hour",
    "8": "for 8 hours",
    "24": "for a day",
    "168": "for a week",
    "": "until unmuted",
}


def mute_end(hours: str, now: datetime) -> datetime | None:
    """Return the end of a mute that begins now; None if it has no end. Raises Problem for unknown `hours`."""
    if hours not in MUTE_LENGTHS:
        raise Problem("not_found")
    return now + timedelta(hours=int(hours)) if hours else None
