"""Renders events as messages for people, with the same text for every provider.

The most important line comes first, because the last lines are dropped if a text exceeds a provider's limit.
Monitor names are untrusted, so each channel escapes the characters that its provider would interpret.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from uuid import UUID

import orjson

from monitoring.audit.actors import begin_sentence
from monitoring.backends.current import current_backends
from monitoring.contract.document import Json
from monitoring.notifications.acknowledge_links import write_acknowledge_link
from monitoring.notifications.channels.digests import render_digest
from monitoring.notifications.channels.keeping import KeepingSender
from monitoring.notifications.channels.labels import join_lines, label_monitor, list_facts, write_text
from monitoring.notifications.channels.message import Message, Mood
from monitoring.notifications.channels.sender import Sender
from monitoring.notifications.durations import count_in_words, moment_in_words, time_between
from monitoring.notifications.grouping import MOST_BEFORE_FLAPPING
from monitoring.notifications.models import NotificationDelivery
from monitoring.notifications.routing import INTERRUPTED
from monitoring.outbound.hosts import host_of


def render_delivery(delivery: NotificationDelivery, sender: Sender) -> Message:
    """Render a delivery's event with its acknowledge link, if any. Every attempt renders the same message.

    A sandbox's message links to the sandbox's pages.
    """
    base_url = current_backends().settings.base_url
    world = "/sandbox" if isinstance(sender, KeepingSender) else ""
    message = render_message(delivery.payload, f"{base_url}/app{world}")
    return replace(message, acknowledge_link=write_acknowledge_link(delivery, base_url))


def render_message(payload: str, app_url: str) -> Message:
    """Render an event. `app_url` is the base URL of the app's live or sandbox pages."""
    return _render(orjson.loads(payload), app_url)


def _render(event: Mapping[str, Json], app_url: str) -> Message:
    subject = {**event["data"], "timestamp": event["timestamp"]}
    message = _RENDERERS[event["type"]](event["type"], subject, app_url)
    return replace(message, title=join_lines(message.title))


def _render_opened(event: str, subject: Mapping[str, Json], app_url: str) -> Message:
    incident, monitor = subject["incident"], subject["monitor"]
    return Message(
        event=event,
        mood=Mood.BAD,
        title=f"{label_monitor(monitor)} is down",
        text=write_text([_render_downtime(subject) + _render_recent(subject), *list_facts(subject)]),
        link=_link_incident(app_url, incident),
        source=host_of(monitor["url"]),
        subject_id=UUID(incident["id"]),
    )


def _render_acknowledged(event: str, subject: Mapping[str, Json], app_url: str) -> Message:
    incident, monitor = subject["incident"], subject["monitor"]
    return Message(
        event=event,
        mood=Mood.NEUTRAL,
        title=f"{label_monitor(monitor)}: incident acknowledged",
        text=write_text(
            [
                f"{begin_sentence(incident['acknowledged_by'])} acknowledged it. {_render_downtime(subject)}",
                *list_facts(subject),
            ]
        ),
        link=_link_incident(app_url, incident),
        source=host_of(monitor["url"]),
        subject_id=UUID(incident["id"]),
    )


def _render_reminder(event: str, subject: Mapping[str, Json], app_url: str) -> Message:
    incident, monitor = subject["incident"], subject["monitor"]
    return Message(
        event=event,
        mood=Mood.BAD,
        title=f"{label_monitor(monitor)} is still down",
        text=write_text([f"{_render_downtime(subject)} Nobody has acknowledged it.", *list_facts(subject)]),
        link=_link_incident(app_url, incident),
        source=host_of(monitor["url"]),
        subject_id=UUID(incident["id"]),
    )


def _render_resolved(event: str, subject: Mapping[str, Json], app_url: str) -> Message:
    incident, monitor = subject["incident"], subject["monitor"]
    lasted = time_between(incident["started_at"], incident["resolved_at"])
    since = moment_in_words(incident["started_at"])
    recovered = incident["resolution"] == "recovered"
    how = "is up again" if recovered else f"was {incident['resolution']}"
    return Message(
        event=event,
        mood=Mood.GOOD if recovered else Mood.NEUTRAL,
        title=f"{label_monitor(monitor)} {how}",
        text=write_text(
            [f"It was down for {lasted}, since {since}: {incident['error_message']}.", *list_facts(subject)]
        ),
        link=_link_incident(app_url, incident),
        source=host_of(monitor["url"]),
        subject_id=UUID(incident["id"]),
    )


def _render_warning(event: str, subject: Mapping[str, Json], app_url: str) -> Message:
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
        title=f"{label_monitor(monitor)} {what}",
        text=write_text([text, *list_facts(subject)]),
        link=_link_monitor(app_url, monitor),
        source=host_of(monitor["url"]),
        subject_id=UUID(monitor["id"]),
    )


def _render_disabled(event: str, subject: Mapping[str, Json], app_url: str) -> Message:
    channel = subject["channel"]
    return Message(
        event=event,
        mood=Mood.BAD,
        title=f"The notification channel {channel['name']} is disabled",
        text=write_text(
            [
                f"{channel['disabled_reason'].rstrip('.')}. It notifies nobody until you enable it again.",
                *list_facts(subject),
            ]
        ),
        link=f"{app_url}/settings/notifications",
        source=host_of(app_url),
        subject_id=UUID(channel["id"]),
    )


def _render_interrupted(event: str, subject: Mapping[str, Json], app_url: str) -> Message:
    """Render a message that this service was offline.

    The message is in the past tense, because the service can send it only once it is online again.
    """
    noticed_at = moment_in_words(subject["timestamp"])
    return Message(
        event=event,
        mood=Mood.BAD,
        title="Checks were interrupted",
        text=write_text(
            [
                f"At {noticed_at} this service got no answer from anywhere. It was probably offline itself.",
                "Until it is back, monitors are unknown, and nobody is notified if they go down.",
                *list_facts(subject),
            ]
        ),
        link=f"{app_url}/monitors",
        source=host_of(app_url),
    )


def _render_confirmation(event: str, subject: Mapping[str, Json], app_url: str) -> Message:
    host = host_of(app_url)
    return Message(
        event=event,
        mood=Mood.NEUTRAL,
        title="Confirm this address for notifications",
        text=f"{subject['team']} wants to send notifications of {host} to this address."
        " Nothing is sent before you confirm it. If you expect none, ignore this message.",
        link=f"{app_url}",
        source=host,
    )


def _render_digest(event: str, subject: Mapping[str, Json], app_url: str) -> Message:
    del event
    return render_digest(subject["events"], subject["timestamp"], app_url, _render)


def _render_downtime(subject: Mapping[str, Json]) -> str:
    """Render why, since when and for how long a monitor has been down."""
    incident = subject["incident"]
    lasts = time_between(incident["started_at"], subject["timestamp"])
    return f"{incident['error_message']}. Down since {moment_in_words(incident['started_at'])}, for {lasts}."


def _render_recent(subject: Mapping[str, Json]) -> str:
    """Render how often a monitor went down within an hour, or "" if fewer than MOST_BEFORE_FLAPPING times."""
    count = subject.get("recent_incidents", 0)
    return f" It went down {count} times within an hour." if count >= MOST_BEFORE_FLAPPING else ""


def _render_article(event: str, subject: Mapping[str, Json], app_url: str) -> Message:
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
        link=f"{app_url}/articles/{article['id']}",
        source=host_of(app_url),
        subject_id=UUID(article["id"]),
    )


def _render_test(event: str, subject: Mapping[str, Json], app_url: str) -> Message:
    del subject
    return Message(
        event=event,
        mood=Mood.NEUTRAL,
        title="A test notification",
        text="Notifications of your team arrive here.",
        link=f"{app_url}",
        source=host_of(app_url),
    )


def _link_monitor(app_url: str, monitor: Mapping[str, Json]) -> str:
    return f"{app_url}/monitors/{monitor['id']}"


def _link_incident(app_url: str, incident: Mapping[str, Json]) -> str:
    return f"{app_url}/incidents/{incident['id']}"


_RENDERERS: Mapping[str, Callable[[str, Mapping[str, Json], str], Message]] = {
    "incident.opened": _render_opened,
    "incident.resolved": _render_resolved,
    "incident.acknowledged": _render_acknowledged,
    "incident.reminder": _render_reminder,
    "monitor.degraded": _render_warning,
    "monitor.recovered": _render_warning,
    "certificate.expiring": _render_warning,
    "channel.disabled": _render_disabled,
    INTERRUPTED: _render_interrupted,
    "channel.confirmation": _render_confirmation,
    "digest": _render_digest,
    "article.translated": _render_article,
    "article.failed": _render_article,
    "article.unpublished": _render_article,
    "test": _render_test,
}
