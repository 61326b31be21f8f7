"""The routing part of a channel's form: which monitors the channel covers, and when. Has no side effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monitoring.app.form_fields import read_tags
from monitoring.app.formatting import write_duration
from monitoring.contract.document import Json

# The options of two select fields. Each option has a value in seconds, and a label.
DELAYS = (
    ("0", "at once"),
    ("60", "if it lasts 1 minute"),
    ("300", "if it lasts 5 minutes"),
    ("600", "if it lasts 10 minutes"),
    ("900", "if it lasts 15 minutes"),
    ("1800", "if it lasts 30 minutes"),
    ("3600", "if it lasts 1 hour"),
)
REMINDERS = (
    ("600", "every 10 minutes"),
    ("1800", "every 30 minutes"),
    ("3600", "every hour"),
    ("14400", "every 4 hours"),
    ("86400", "every day"),
)

QUIET_FIELDS = ("starts_at", "ends_at", "time_zone")


def read_routing(form: Mapping[str, str], monitor_ids: Sequence[str]) -> dict[str, Json]:
    """Convert a form to a NotificationRoutingUpdate. `monitor_ids` are the ticked monitors' ids."""
    return {
        "monitor_ids": list(dict.fromkeys(monitor_ids)),
        "tags": read_tags(form.get("routing_tags", "")),
        "delay_seconds": _read_seconds(form.get("routing_delay_seconds", "0")),
        "unless_acknowledged": form.get("routing_unless_acknowledged") == "on",
        "reminder_interval_seconds": _read_seconds(form.get("routing_reminder_interval_seconds", "3600")),
        "quiet_hours": _read_quiet_hours(form),
    }


def write_routing(routing: Mapping[str, Json]) -> dict[str, str]:
    """Return the texts of a routing's form fields. Monitors are checkboxes, so they are left out."""
    quiet_hours = routing["quiet_hours"] or {}
    return {
        "routing_tags": ", ".join(routing["tags"]),
        "routing_delay_seconds": str(routing["delay_seconds"]),
        "routing_unless_acknowledged": "on" if routing["unless_acknowledged"] else "",
        "routing_reminder_interval_seconds": str(routing["reminder_interval_seconds"]),
        **{f"routing_quiet_{name}": quiet_hours[name] for name in quiet_hours},
    }


def describe_routing(routing: Mapping[str, Json]) -> str:
    """Describe which monitors a channel covers, and when: `tag shop or 1 monitor, after 5 min`."""
    tags, ids = routing["tags"], routing["monitor_ids"]
    of = [f"{'tag' if len(tags) == 1 else 'tags'} {', '.join(tags)}"] if tags else []
    of += [f"{len(ids)} {'monitor' if len(ids) == 1 else 'monitors'}"] if ids else []
    parts = [" or ".join(of) or "all monitors"]
    if routing["delay_seconds"]:
        unless = " unless acknowledged" if routing["unless_acknowledged"] else ""
        parts.append(f"after {write_duration(routing['delay_seconds'])}{unless}")
    if quiet_hours := routing["quiet_hours"]:
        parts.append(f"not from {quiet_hours['starts_at']} to {quiet_hours['ends_at']}")
    return ", ".join(parts)


def _read_quiet_hours(form: Mapping[str, str]) -> Json:
    """Return the typed quiet hours; None if both their start and end are empty."""
    typed = {name: form.get(f"routing_quiet_{name}", "").strip() for name in QUIET_FIELDS}
    return typed if typed["starts_at"] or typed["ends_at"] else None


def _read_seconds(text: str) -> Json:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else text  # noqa: PLR2004
