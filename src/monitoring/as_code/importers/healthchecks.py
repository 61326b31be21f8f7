"""Healthchecks: what `GET /api/v3/checks/` answers (or v1, v2), saved as a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from monitoring.as_code.importers.drafts import Draft, read_mapping, write_tags


def read(files: Sequence[bytes]) -> Iterator[Draft]:
    """Read the checks as heartbeats."""
    [file] = files
    return map(_draft, read_mapping(file, "checks")["checks"])


def _draft(check: Mapping[str, Any]) -> Draft:
    name = check.get("name") or "Heartbeat"
    schedule = check.get("schedule")
    draft = Draft(name, {"name": name, "type": "heartbeat"}, ["the ping URL, which is another one here"])
    if schedule and len(schedule.split()) != 5:  # noqa: PLR2004 - the fields of a crontab's line
        return Draft(name, None, [f"the schedule {schedule}, which is no line of a crontab"])
    when = (
        {"cron": schedule, "time_zone": check.get("tz") or "UTC"}
        if schedule
        else {"period_seconds": check["timeout"]}
    )
    assert draft.fields is not None  # noqa: S101 - see above
    draft.fields["heartbeat"] = {**when, "grace_seconds": check["grace"]}
    if tags := write_tags(iter((check.get("tags") or "").split())):
        draft.fields["tags"] = tags
    if check.get("status") == "paused":
        draft.fields["paused"] = True
    draft.lost += [
        f"its {word}"
        for word, name in (("description", "desc"), ("channels", "channels"), ("filters", "filter_body"))
        if check.get(name)
    ]
    return draft
