"""Renders times, durations and counts for people, such as "2 hours". Has no side effects."""

from __future__ import annotations

from datetime import datetime, timedelta

# The seconds in each unit, largest unit first.
_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


def duration_in_words(duration: timedelta) -> str:
    """Render a duration in its largest unit, rounded down: for example "2 hours" or "less than a second"."""
    seconds = int(duration.total_seconds())
    for unit_seconds, unit in _UNITS:
        if count := seconds // unit_seconds:
            return count_in_words(count, unit)
    return "less than a second"


def moment_in_words(timestamp: str) -> str:
    """Render a timestamp from an event or a response in UTC, without fractions of a second."""
    return datetime.fromisoformat(timestamp).strftime("%Y-%m-%d %H:%M:%S UTC")


def time_between(since: str, until: str) -> str:
    """Render the duration between two timestamps from events or responses."""
    return duration_in_words(datetime.fromisoformat(until) - datetime.fromisoformat(since))


def count_in_words(count: int, unit: str) -> str:
    """Render a count with its unit, such as "1 hour" or "2 hours"."""
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
