"""What a notification says to people: the same words in every chat. Pure.

Names of monitors and titles of articles are strangers' text. Each channel escapes what its provider would
interpret.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import UUID

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from monitoring.contract.document import Json

# Seconds in a unit, the largest first.
_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


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
    """An event in plain text. `link` leads to its subject in the app.

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

    @property
    def key(self) -> str:
        """The key by which services recognise messages about one subject."""
        return str(self.subject_id or self.event)

    @property
    def ends_subject(self) -> bool:
        """Whether this ends what an earlier message about the subject began."""
        return self.event == "incident.resolved"


def word(payload: str, base_url: str) -> Message:
    """Put an event in words. `base_url` is where the app is."""
    event = orjson.loads(payload)
    return _WORDS[event["type"]](event["type"], event["data"], base_url)


def _say_opened(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    incident, monitor = subject["incident"], subject["monitor"]
    return Message(
        event=event,
        mood=Mood.BAD,
        title=f"{monitor['name']} is down",
        text=f"{incident['error_message']}. Down since {_moment(incident['started_at'])}.",
        link=_link_monitor(base_url, monitor),
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
        link=_link_monitor(base_url, monitor),
        source=_host_of(monitor["url"]),
        subject_id=UUID(incident["id"]),
    )


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
        title=f"“{article['title']}” {what}",
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


def _host_of(url: str) -> str:
    return urlsplit(url).netloc


def _moment(timestamp: str) -> str:
    return datetime.fromisoformat(timestamp).strftime("%Y-%m-%d %H:%M:%S UTC")


def _duration(since: str, until: str) -> str:
    """Say how long it took, rounded down to the largest unit: 2 hours, 1 minute, less than a second."""
    seconds = int((datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds())
    for unit_seconds, unit in _UNITS:
        if count := seconds // unit_seconds:
            return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return "less than a second"


_WORDS: Mapping[str, Callable[[str, Mapping[str, Json], str], Message]] = {
    "incident.opened": _say_opened,
    "incident.resolved": _say_resolved,
    "article.translated": _say_article,
    "article.failed": _say_article,
    "article.unpublished": _say_article,
    "test": _say_test,
}
