"""What a notification says to people: the same words in every chat. Pure.

Names of monitors are strangers' text. Each channel escapes what its provider would
interpret.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import UUID

import orjson

from monitoring.notifications.grouping import MOST_BEFORE_FLAPPING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from monitoring.contract.document import Json

# Seconds in a unit, the largest first.
_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


# Of a digest. Some services take no longer messages.
MOST_LINES = 20


class Mood(StrEnum):
    """What a message means for its readers, as the colour of its margin."""

    BAD = "#c62828"
    GOOD = "#2e7d32"
    NEUTRAL = "#546e7a"

    @property
    def number(self) -> int:
        """The colour as a number, red in the highest byte."""
        return int(self.removeprefix("#"), 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """An event in plain text. `link` leads to its subject in the app, `acknowledge_link` to one button there.

    `subject_id` is the same for the opening and the end of an incident, and for all events of an article. A
    test has none. `source` is the host of what was watched, or of this service.
    """

    event: str
    mood: Mood
    title: str
    text: str
    link: str
    source: str
    subject_id: UUID | None = None
    acknowledge_link: str | None = None

    @property
    def links(self) -> Mapping[str, str]:
        """Where the reader can go, by what buttons say."""
        links = {"Open": self.link}
        return links | {"Acknowledge": self.acknowledge_link} if self.acknowledge_link else links

    @property
    def markdown_link(self) -> str:
        """The link to acknowledge, on a line of its own; empty without one."""
        return f"\n[Acknowledge]({self.acknowledge_link})" if self.acknowledge_link else ""

    @property
    def key(self) -> str:
        """The key by which services recognise messages about one subject."""
        return str(self.subject_id or self.event)

    @property
    def takes_subject(self) -> bool:
        """Whether somebody takes care of what an earlier message about the subject began."""
        return self.event == "incident.acknowledged"

    @property
    def ends_subject(self) -> bool:
        """Whether this ends what an earlier message about the subject began."""
        return self.event == "incident.resolved"


def word(payload: str, base_url: str) -> Message:
    """Put an event in words. `base_url` is where the app is."""
    return _word(orjson.loads(payload), base_url)


def _word(event: Mapping[str, Json], base_url: str) -> Message:
    subject = {**event["data"], "timestamp": event["timestamp"]}
    return _WORDS[event["type"]](event["type"], subject, base_url)


def _say_opened(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    incident, monitor = subject["incident"], subject["monitor"]
    return Message(
        event=event,
        mood=Mood.BAD,
        title=f"{monitor['name']} is down",
        text=f"{incident['error_message']}. Down since {_moment(incident['started_at'])}."
        + _say_recent(subject),
        link=_link_incident(base_url, incident),
        source=_host_of(monitor["url"]),
        subject_id=UUID(incident["id"]),
    )


def _say_acknowledged(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    incident, monitor = subject["incident"], subject["monitor"]
    return Message(
        event=event,
        mood=Mood.NEUTRAL,
        title=f"{monitor['name']}: somebody takes care",
        text=f"{incident['acknowledged_by']} acknowledged that it is down since"
        f" {_moment(incident['started_at'])}.",
        link=_link_incident(base_url, incident),
        source=_host_of(monitor["url"]),
        subject_id=UUID(incident["id"]),
    )


def _say_reminder(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    incident, monitor = subject["incident"], subject["monitor"]
    lasts = _duration(incident["started_at"], subject["timestamp"])
    return Message(
        event=event,
        mood=Mood.BAD,
        title=f"{monitor['name']} is still down",
        text=f"{incident['error_message']}. Down for {lasts}, and nobody has acknowledged it.",
        link=_link_incident(base_url, incident),
        source=_host_of(monitor["url"]),
        subject_id=UUID(incident["id"]),
    )


def _say_resolved(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    incident, monitor = subject["incident"], subject["monitor"]
    lasted = _duration(incident["started_at"], incident["resolved_at"])
    recovered = incident["resolution"] == "recovered"
    how = "is up again" if recovered else f"was {incident['resolution']}"
    return Message(
        event=event,
        mood=Mood.GOOD if recovered else Mood.NEUTRAL,
        title=f"{monitor['name']} {how}",
        text=f"It was down for {lasted}, since {_moment(incident['started_at'])}.",
        link=_link_incident(base_url, incident),
        source=_host_of(monitor["url"]),
        subject_id=UUID(incident["id"]),
    )


def _say_warning(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    monitor, certificate = subject["monitor"], subject.get("certificate")
    if certificate:
        days = certificate["expires_in_days"]
        mood, what = Mood.BAD, f"has a certificate that expires within {_count(days, 'day')}"
        text = f"It expires on {_moment(certificate['expires_at'])}."
    elif event == "monitor.degraded":
        mood, what = Mood.BAD, "is degraded"
        text = f"{subject['degradation']['message']}."
    else:
        mood, what, text = Mood.GOOD, "is no longer degraded", "The last checks found nothing to warn of."
    return Message(
        event=event,
        mood=mood,
        title=f"{monitor['name']} {what}",
        text=text,
        link=_link_monitor(base_url, monitor),
        source=_host_of(monitor["url"]),
        subject_id=UUID(monitor["id"]),
    )


def _say_disabled(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    channel = subject["channel"]
    return Message(
        event=event,
        mood=Mood.BAD,
        title=f"The notification channel {channel['name']} is disabled",
        text=f"{channel['disabled_reason'].rstrip('.')}. It tells nobody until you enable it again.",
        link=f"{base_url}/app/settings/notifications",
        source=_host_of(base_url),
        subject_id=UUID(channel["id"]),
    )


def _say_confirmation(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    host = _host_of(base_url)
    return Message(
        event=event,
        mood=Mood.NEUTRAL,
        title="Confirm this address for notifications",
        text=f"{subject['team']} wants to send notifications of {host} to this address."
        " Nothing is sent before you confirm it. If you expect none, ignore this message.",
        link=f"{base_url}/app",
        source=host,
    )


def _say_digest(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    """Sum up events by monitor: what is down first, then what is up again, and then what else happened."""
    latest: dict[str, Mapping[str, Json]] = {}
    openings: Counter[str] = Counter()
    others = []
    for each in subject["events"]:
        if not each["type"].startswith("incident."):
            message = _word(each, base_url)
            others.append((message.mood, f"{message.title}."))
            continue
        monitor_id = each["data"]["monitor"]["id"]
        latest[monitor_id] = each
        openings[monitor_id] += each["type"] == "incident.opened"
    down = [each for each in latest.values() if each["type"] != "incident.resolved"]
    up = [each for each in latest.values() if each["type"] == "incident.resolved"]
    lines = [_sum_up(each, openings[each["data"]["monitor"]["id"]]) for each in (*down, *up)]
    lines += [line for _, line in others]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"And {_count(len(lines) - MOST_LINES, 'other')}."]
    is_bad = bool(down) or Mood.BAD in [mood for mood, _ in others]
    counts = [
        f"{_count(len(down), 'monitor')} down" * bool(down),
        f"{len(up)} up again" * bool(up),
        _count(len(others), "other message" if latest else "message") * bool(others),
    ]
    return Message(
        event=event,
        mood=Mood.BAD if is_bad else Mood.GOOD,
        title=", ".join(filter(None, counts)),
        text="\n".join(lines),
        link=f"{base_url}/app/incidents",
        source=_host_of(base_url),
    )


def _sum_up(event: Mapping[str, Json], opening_count: int) -> str:
    monitor, incident = event["data"]["monitor"], event["data"]["incident"]
    times = f", down {opening_count} times" if opening_count > 1 else ""
    if event["type"] == "incident.resolved":
        return f"{monitor['name']} is up again{times}."
    return f"{monitor['name']} is down{times}. {incident['error_message']}."


def _say_recent(subject: Mapping[str, Json]) -> str:
    """Say how often the monitor went down lately, if that is remarkable."""
    count = subject.get("recent_incidents", 0)
    return f" It went down {count} times within an hour." if count >= MOST_BEFORE_FLAPPING else ""


def _say_article(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    article, translation = subject["article"], subject.get("translation", {})
    mood, what = {
        "article.translated": (Mood.GOOD, "was translated"),
        "article.failed": (Mood.BAD, "could not be translated"),
        "article.unpublished": (Mood.NEUTRAL, "is no longer published"),
    }[event]
    locale = f"Locale {translation['locale']}. " if translation else ""
    reason = f"{translation['reason']}. " if translation.get("reason") else ""
    return Message(
        event=event,
        mood=mood,
        title=f"“{article['slug']}” {what}",
        text=f"{locale}{reason}Revision {article['revision']}.",
        link=f"{base_url}/app/articles/{article['id']}",
        source=_host_of(base_url),
        subject_id=UUID(article["id"]),
    )


def _say_test(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    del subject
    return Message(
        event=event,
        mood=Mood.NEUTRAL,
        title="A test notification",
        text="Notifications of your team arrive here.",
        link=f"{base_url}/app",
        source=_host_of(base_url),
    )


def _link_monitor(base_url: str, monitor: Mapping[str, Json]) -> str:
    return f"{base_url}/app/monitors/{monitor['id']}"


def _link_incident(base_url: str, incident: Mapping[str, Json]) -> str:
    return f"{base_url}/app/incidents/{incident['id']}"


def _host_of(url: str) -> str:
    return urlsplit(url).netloc


def _moment(timestamp: str) -> str:
    return datetime.fromisoformat(timestamp).strftime("%Y-%m-%d %H:%M:%S UTC")


def _duration(since: str, until: str) -> str:
    """Say how long it took, rounded down to the largest unit: 2 hours, 1 minute, less than a second."""
    seconds = int((datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds())
    for unit_seconds, unit in _UNITS:
        if count := seconds // unit_seconds:
            return _count(count, unit)
    return "less than a second"


def _count(count: int, unit: str) -> str:
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


_WORDS: Mapping[str, Callable[[str, Mapping[str, Json], str], Message]] = {
    "incident.opened": _say_opened,
    "incident.resolved": _say_resolved,
    "incident.acknowledged": _say_acknowledged,
    "incident.reminder": _say_reminder,
    "monitor.degraded": _say_warning,
    "monitor.recovered": _say_warning,
    "certificate.expiring": _say_warning,
    "channel.disabled": _say_disabled,
    "channel.confirmation": _say_confirmation,
    "digest": _say_digest,
    "article.translated": _say_article,
    "article.failed": _say_article,
    "article.unpublished": _say_article,
    "test": _say_test,
}
