"""Labels for channel types, their fields, and events."""

from __future__ import annotations

from monitoring.incidents.models import Resolution
from monitoring.notifications.grouping import DIGEST
from monitoring.notifications.models import CONFIRMATION
from monitoring.notifications.routing import INTERRUPTED, TEST

# The channel types in the order in which the page lists them. Each has a name, and a hint about its setup.
TYPES = {
    "email": ("Email", "An email address, whose reader has to confirm it first."),
    "slack": ("Slack", "The address of an incoming webhook of your workspace."),
    "microsoft_teams": (
        "Microsoft Teams",
        "The address of a workflow that posts webhook alerts to a channel.",
    ),
    "google_chat": ("Google Chat", "The address of a webhook of the space."),
    "discord": ("Discord", "The address of a webhook of the channel."),
    "mattermost": ("Mattermost", "The address of an incoming webhook."),
    "telegram": ("Telegram", "The token of a bot, and the chat that it is a member of."),
    "pagerduty": (
        "PagerDuty",
        "The integration key of Events API v2. Each incident opens one there, and resolves it.",
    ),
    "opsgenie": (
        "Opsgenie, Jira Service Management",
        "The key of an API integration. Each incident creates an alert.",
    ),
    "ntfy": ("ntfy", "A topic that phones subscribe to, on ntfy.sh or your own server."),
    "pushover": ("Pushover", "The token of an application, and the key of a user or a group."),
    "webhook": ("Webhook", "The address of a server of yours, which receives signed messages."),
    "custom": ("Custom", "An address that takes JSON in its own format."),
}

# Channel type names for use after "notified by", if they differ from those in `TYPES`.
_NAMES_IN_SENTENCES = {"email": "email", "webhook": "a webhook", "custom": "a custom webhook"}

LABELS = {
    "name": "Name",
    "url": "Address (URL)",
    "address": "Email address",
    "bot_token": "Token of the bot",
    "chat_id": "Chat",
    "routing_key": "Integration key",
    "region": "Region",
    "api_key": "API key",
    "topic": "Topic",
    "token": "Access token",
    "app_token": "Token of the application",
    "user_key": "Key of the user or group",
    "method": "Method",
    "headers": "Headers",
    "body": "Body (JSON)",
}

HINTS = {
    "name": "If empty, the channel is named after its host, service or address.",
    "address": "It is sent a link, and nothing else until its reader confirms the address.",
    "chat_id": "A number such as -1001234567890, or the @name of a public channel.",
    "token": "Only if the server requires one.",
    "headers": "One per line, such as Authorization: Bearer a-token. Values are not shown again.",
    "body": (
        "An object. In its texts {{title}}, {{text}}, {{link}}, {{acknowledge_link}}, {{event}} and {{id}}"
        " are filled in."
    ),
}

EVENTS = {
    "incident.opened": "A monitor is down",
    "incident.acknowledged": "Acknowledged",
    "incident.resolved": "It is up again, paused or deleted",
    "incident.reminder": "It is still down, and nobody has acknowledged it",
    "monitor.degraded": "A monitor is slow, or its certificate expires soon",
    "monitor.recovered": "It is no longer degraded",
    "certificate.expiring": "A certificate expires in 30, 14 or 7 days, or tomorrow",
    "channel.disabled": "Another channel was disabled, because no message could be delivered to it",
    "article.translated": "A translation of an article is stored",
    "article.failed": "A translation failed for good",
    "article.unpublished": "An article was unpublished or deleted",
}

SHORT_EVENTS = {
    "incident.opened": "down",
    "incident.acknowledged": "acknowledged",
    "incident.resolved": "up again",
    "incident.reminder": "still down",
    "monitor.degraded": "degraded",
    "monitor.recovered": "no longer degraded",
    "certificate.expiring": "certificate expires",
    "channel.disabled": "channel disabled",
    "article.translated": "translated",
    "article.failed": "translation failed",
    "article.unpublished": "article unpublished",
}
"""Shorter labels of events, for the list of channels, where each channel names several events."""

# Labels of messages that channels get, but that users cannot select as events.
_OTHERS = {
    TEST: "A test",
    CONFIRMATION: "The link that confirms the address",
    INTERRUPTED: "Checks were interrupted, because the service itself was offline",
    DIGEST: "Summary of several events",
}

_ENDS = {
    Resolution.RECOVERED: "It is up again",
    Resolution.PAUSED: "It was paused, which ended the incident",
    Resolution.DELETED: "It was deleted, which ended the incident",
}


def name_event(event: str, resolution: str | None = None) -> str:
    """Return an event's label. `resolution` is how the event's incident ended; None if that is unknown."""
    if event == "incident.resolved" and resolution:
        return _ENDS[Resolution(resolution)]
    return EVENTS.get(event) or _OTHERS.get(event, event)


def name_channel_type(channel_type: str) -> str:
    """Return a channel type's name for use within a sentence."""
    return _NAMES_IN_SENTENCES.get(channel_type) or TYPES[channel_type][0]
