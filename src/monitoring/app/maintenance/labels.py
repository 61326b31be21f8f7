"""Labels for a maintenance window's fields, and descriptions of its recurrence. Has no side effects."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from monitoring.app.formatting import write_duration
from monitoring.app.maintenance.recurrence_words import describe_rule
from monitoring.monitors.maintenance.models import MaintenanceWindow

LABELS = {
    "starts_at": "Begins",
    "duration_seconds": "Lasts",
    "ends_at": "Or until",
    "recurrence": "Repeats",
    "time_zone": "Time zone",
    "name": "Name",
    "tags": "Monitors with one of these tags",
    "monitor_ids": "These monitors",
}
"""Labels of fields by their names in the document, in the form's order. Only the form has `ends_at`."""

DURATIONS = tuple(
    (str(seconds), write_duration(seconds))
    for seconds in (900, 1800, 3600, 7200, 14_400, 28_800, 86_400, 172_800, 604_800)
)

RULES = {
    "": "never",
    "FREQ=DAILY": "every day",
    "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR": "from Monday to Friday",
    "FREQ=WEEKLY": "every week, on the weekday of the beginning",
    "FREQ=MONTHLY": "every month, on the day of the beginning",
}
"""The recurrence rules that the form offers, with their labels. API clients can use other rules."""


def describe_recurrence(window: MaintenanceWindow) -> str:
    """Describe a window's recurrence: "every Sunday at 03:00, Europe/Berlin"; empty if it does not recur."""
    if not window.recurrence:
        return ""
    local = window.starts_at.astimezone(ZoneInfo(window.time_zone))
    return f"{describe_rule(window.recurrence, local) or _quote(window.recurrence)}, {window.time_zone}"


def name_rule(rule: str, starts_at: str) -> str:
    """Describe a recurrence rule that the form does not offer. `starts_at` is the form's local start time."""
    try:
        return describe_rule(rule, datetime.fromisoformat(starts_at)) or _quote(rule)
    except (ValueError, KeyError):  # a submitted form may contain any text
        return _quote(rule)


def _quote(rule: str) -> str:
    return f"by the rule {rule}"
