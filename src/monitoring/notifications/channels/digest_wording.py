"""What a digest says: how the monitors are after many events, and not each event again. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from monitoring.notifications.channels.message import Message, Mood
from monitoring.notifications.durations import count_in_words
from monitoring.outbound.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from monitoring.contract.document import Json

    Event = Mapping[str, Json]

# Some services take no longer messages.
MOST_LINES = 20


def say_digest(events: Iterable[Event], base_url: str, say_other: Callable[[Event, str], Message]) -> Message:
    """Sum up events by monitor: what is down first, then what is up again, and then what else happened.

    `say_other` words an event that is not about an incident.
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
            others.append(say_other(each, base_url))
    down = [each for each in latest.values() if each["type"] != "incident.resolved"]
    up = [each for each in latest.values() if each["type"] == "incident.resolved"]
    lines = [_sum_up(each, openings[each["data"]["monitor"]["id"]]) for each in (*down, *up)]
    lines += [f"{other.title}." for other in others]
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
        text="\n".join(_cut(lines)),
        link=f"{base_url}/app/incidents",
        source=host_of(base_url),
    )


def _sum_up(event: Event, opening_count: int) -> str:
    monitor, incident = event["data"]["monitor"], event["data"]["incident"]
    times = f" It went down {opening_count} times." if opening_count > 1 else ""
    if event["type"] == "incident.resolved":
        return f"{monitor['name']} is up again.{times}"
    return f"{monitor['name']} is down. {incident['error_message']}.{times}"


def _cut(lines: list[str]) -> list[str]:
    if len(lines) <= MOST_LINES:
        return lines
    return [*lines[:MOST_LINES], f"And {count_in_words(len(lines) - MOST_LINES, 'other')}."]
