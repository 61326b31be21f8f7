"""Renders digests. A digest shows each monitor's latest state, not every event. Has no side effects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from monitoring.contract.document import Json
from monitoring.notifications.channels.labels import display_url, write_text
from monitoring.notifications.channels.message import Message, Mood
from monitoring.notifications.durations import count_in_words, moment_in_words, time_between
from monitoring.outbound.hosts import host_of

Event = Mapping[str, Json]


def render_digest(
    events: Sequence[Event], timestamp: str, app_url: str, render_other: Callable[[Event, str], Message]
) -> Message:
    """Return a message that lists monitors that are down, then monitors that are up again, then other events.

    `timestamp` is the time of the digest itself. `render_other` renders events that are not about incidents.
    """
    latest: dict[str, Event] = {}
    openings: Counter[str] = Counter()
    others = []
    for each in events:
        if each["type"].startswith("incident."):
            monitor_id = each["data"]["monitor"]["id"]
            latest[monitor_id] = each
            openings[monitor_id] += each["type"] == "incident.opened"
        else:
            others.append(render_other(each, app_url))
    down = [each for each in latest.values() if each["type"] != "incident.resolved"]
    up = [each for each in latest.values() if each["type"] == "incident.resolved"]
    team = next((each["data"]["team"] for each in events if "team" in each["data"]), None)
    lines = [f"Team: {team}"] if team else []
    lines += [_sum_up(each, openings[each["data"]["monitor"]["id"]], timestamp) for each in (*down, *up)]
    lines += [f"{other.title}. {other.text.splitlines()[0]}" for other in others]
    is_bad = bool(down) or any(other.mood is Mood.BAD for other in others)
    counts = [
        count_in_words(len(down), "monitor") + " down" if down else "",
        f"{len(up)} up again" if up else "",
        count_in_words(len(others), "other message" if latest else "message") if others else "",
    ]
    return Message(
        event="digest",
        mood=Mood.BAD if is_bad else Mood.GOOD,
        title=", ".join(filter(None, counts)),
        text=write_text(lines),
        link=f"{app_url}/incidents",
        source=host_of(app_url),
    )


def _sum_up(event: Event, opening_count: int, timestamp: str) -> str:
    monitor, incident = event["data"]["monitor"], event["data"]["incident"]
    which = f"{monitor['name']} ({display_url(monitor)})"
    times = f" It went down {opening_count} times." if opening_count > 1 else ""
    if event["type"] == "incident.resolved":
        return f"{which} is up again.{times}"
    since = incident["started_at"]
    lasts = f"Down since {moment_in_words(since)}, for {time_between(since, timestamp)}."
    return f"{which} is down. {incident['error_message']}. {lasts}{times}"
