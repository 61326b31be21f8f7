"""What a notification says to people: the same words in every chat. Pure.

A text is lines, the most important first, because a channel leaves out the last ones if its provider takes
no more. Names of monitors are strangers' text. Each channel escapes what its provider would interpret.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from uuid import UUID

import orjson

from monitoring.contract.document import Json
from monitoring.notifications.channels.digest_wording import say_digest
from monitoring.notifications.channels.message import Message, Mood
from monitoring.notifications.channels.naming import call_monitor, join_lines, list_facts, write_text
from monitoring.notifications.durations import count_in_words, moment_in_words, time_between
from monitoring.notifications.grouping import MOST_BEFORE_FLAPPING
from monitoring.notifications.routing import INTERRUPTED
from monitoring.outbound.hosts import host_of


def word(payload: str, base_url: str) -> Message:
    """Put an event in words. `base_url` is where the app is."""
    return _word(orjson.loads(payload), base_url)


def _word(event: Mapping[str, Json], base_url: str) -> Message:
    subject = {**event["data"], "timestamp": event["timestamp"]}
    message = _WORDS[event["type"]](event["type"], subject, base_url)
    return replace(message, title=join_lines(message.title))


def _say_opened(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    incident, monitor = subject["incident"], subject["monitor"]
    return Message(
        event=event,
        mood=Mood.BAD,
        title=f"{call_monitor(monitor)} is down",
        text=write_text([_say_down(subject) + _say_recent(subject), *list_facts(subject)]),
        link=_link_incident(base_url, incident),
        source=host_of(monitor["url"]),
        subject_id=UUID(incident["id"]),
    )


def _say_acknowledged(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    incident, monitor = subject["incident"], subject["monitor"]
    return Message(
        event=event,
        mood=Mood.NEUTRAL,
        title=f"{call_monitor(monitor)}: somebody takes care",
        text=write_text(
            [f"{incident['acknowledged_by']} acknowledged it. {_say_down(subject)}", *list_facts(subject)]
        ),
        link=_link_incident(base_url, incident),
        source=host_of(monitor["url"]),
        subject_id=UUID(incident["id"]),
    )


def _say_reminder(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    incident, monitor = subject["incident"], subject["monitor"]
    return Message(
        event=event,
        mood=Mood.BAD,
        title=f"{call_monitor(monitor)} is still down",
        text=write_text([f"{_say_down(subject)} Nobody has acknowledged it.", *list_facts(subject)]),
        link=_link_incident(base_url, incident),
        source=host_of(monitor["url"]),
        subject_id=UUID(incident["id"]),
    )


def _say_resolved(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    incident, monitor = subject["incident"], subject["monitor"]
    lasted = time_between(incident["started_at"], incident["resolved_at"])
    since = moment_in_words(incident["started_at"])
    recovered = incident["resolution"] == "recovered"
    how = "is up again" if recovered else f"was {incident['resolution']}"
    return Message(
        event=event,
        mood=Mood.GOOD if recovered else Mood.NEUTRAL,
        title=f"{call_monitor(monitor)} {how}",
        text=write_text(
            [f"It was down for {lasted}, since {since}: {incident['error_message']}.", *list_facts(subject)]
        ),
        link=_link_incident(base_url, incident),
        source=host_of(monitor["url"]),
        subject_id=UUID(incident["id"]),
    )


def _say_warning(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    monitor, certificate = subject["monitor"], subject.get("certificate")
    noticed_at = moment_in_words(subject["timestamp"])
    if certificate:
        days = certificate["expires_in_days"]
        mood, what = Mood.BAD, f"has a certificate that expires within {count_in_words(days, 'day')}"
        text = f"It expires on {moment_in_words(certificate['expires_at'])}."
    elif event == "monitor.degraded":
        mood, what = Mood.BAD, "is degraded"
        text = f"{subject['degradation']['message']}. Noticed at {noticed_at}."
    else:
        mood, what = Mood.GOOD, "is no longer degraded"
        text = f"The last checks found nothing to warn of. Noticed at {noticed_at}."
    return Message(
        event=event,
        mood=mood,
        title=f"{call_monitor(monitor)} {what}",
        text=write_text([text, *list_facts(subject)]),
        link=_link_monitor(base_url, monitor),
        source=host_of(monitor["url"]),
        subject_id=UUID(monitor["id"]),
    )


def _say_disabled(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    channel = subject["channel"]
    return Message(
        event=event,
        mood=Mood.BAD,
        title=f"The notification channel {channel['name']} is disabled",
        text=write_text(
            [
                f"{channel['disabled_reason'].rstrip('.')}. It tells nobody until you enable it again.",
                *list_facts(subject),
            ]
        ),
        link=f"{base_url}/app/settings/notifications",
        source=host_of(base_url),
        subject_id=UUID(channel["id"]),
    )


def _say_interrupted(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    """Say it so that it is true later too: a service that is offline sends it when that is over."""
    noticed_at = moment_in_words(subject["timestamp"])
    return Message(
        event=event,
        mood=Mood.BAD,
        title="Checks were interrupted",
        text=write_text(
            [
                f"At {noticed_at} nothing that this service asked answered. It was probably offline itself.",
                "While it is, monitors are unknown, and nobody is told if they go down.",
                *list_facts(subject),
            ]
        ),
        link=f"{base_url}/app/monitors",
        source=host_of(base_url),
    )


def _say_confirmation(event: str, subject: Mapping[str, Json], base_url: str) -> Message:
    host = host_of(base_url)
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
    del event
    return say_digest(subject["events"], subject["timestamp"], base_url, _word)


def _say_down(subject: Mapping[str, Json]) -> str:
    """Say why a monitor is down, and since when."""
    incident = subject["incident"]
    lasts = time_between(incident["started_at"], subject["timestamp"])
    return f"{incident['error_message']}. Down since {moment_in_words(incident['started_at'])}, for {lasts}."


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
        text=write_text([f"{locale}{reason}Revision {article['revision']}.", *list_facts(subject)]),
        link=f"{base_url}/app/articles/{article['id']}",
        source=host_of(base_url),
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
        source=host_of(base_url),
    )


def _link_monitor(base_url: str, monitor: Mapping[str, Json]) -> str:
    return f"{base_url}/app/monitors/{monitor['id']}"


def _link_incident(base_url: str, incident: Mapping[str, Json]) -> str:
    return f"{base_url}/app/incidents/{incident['id']}"


_WORDS: Mapping[str, Callable[[str, Mapping[str, Json], str], Message]] = {
    "incident.opened": _say_opened,
    "incident.resolved": _say_resolved,
    "incident.acknowledged": _say_acknowledged,
    "incident.reminder": _say_reminder,
    "monitor.degraded": _say_warning,
    "monitor.recovered": _say_warning,
    "certificate.expiring": _say_warning,
    "channel.disabled": _say_disabled,
    INTERRUPTED: _say_interrupted,
    "channel.confirmation": _say_confirmation,
    "digest": _say_digest,
    "article.translated": _say_article,
    "article.failed": _say_article,
    "article.unpublished": _say_article,
    "test": _say_test,
}
