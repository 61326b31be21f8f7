"""Imports from Healthchecks: the response of `GET /api/v3/checks/` (or v1, v2), saved as a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from monitoring.as_code.importers.drafts import PINGS, Draft, read_mapping, write_tags

_LOST = {
    "desc": "its description",
    "channels": "its channels",
    "filter_body": "its filters",
    "filter_subject": "its filters",
    "methods": "the setting that only POST requests count as pings",
    "manual_resume": "the setting that a ping does not resume it",
}
# Fields that are not reported as lost, because the importer reads them, because they only report a status,
# because they contain URLs of Healthchecks, or because they belong to `filter_subject`.
_KNOWN = {
    *("name", "schedule", "tz", "timeout", "grace", "tags", "status", "slug", "uuid", "unique_key"),
    *("n_pings", "started", "last_ping", "last_duration", "next_ping", "ping_url", "update_url"),
    *("pause_url", "resume_url", "badge_url", "subject", "subject_fail"),
}


def read(files: Sequence[bytes]) -> Iterator[Draft]:
    """Return the checks as heartbeat monitors."""
    [file] = files
    return map(_draft, read_mapping(file, "checks")["checks"])


def _draft(check: Mapping[str, Any]) -> Draft:
    name = check.get("name") or "Heartbeat"
    schedule = check.get("schedule")
    if schedule and len(schedule.split()) != 5:  # noqa: PLR2004 - the fields of a crontab's line
        return Draft(name, lost=[f"the schedule {schedule}, which is not a cron expression with five fields"])
    when = (
        {"cron": schedule, "time_zone": check.get("tz") or "UTC"}
        if schedule
        else {"period_seconds": check["timeout"]}
    )
    heartbeat = {**when, "grace_seconds": check["grace"]}
    draft = Draft(name, {"type": "heartbeat", "heartbeat": heartbeat}, [PINGS])
    if tags := write_tags((check.get("tags") or "").split()):
        draft.fields["tags"] = tags
    if check.get("status") == "paused":
        draft.fields["paused"] = True
    draft.lose(check, _LOST)
    draft.lose_others(check, _KNOWN | _LOST.keys())
    return draft
