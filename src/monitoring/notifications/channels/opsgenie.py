"""Opsgenie, and Jira Service Management, which took its interface over: an alert that is created and closed.

https://docs.opsgenie.com/docs/alert-api
https://developer.atlassian.com/cloud/jira/service-desk-ops/rest/v1/api-group-integration-events/
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from monitoring.notifications.channels.message import Mood
from monitoring.notifications.channels.posting import Post

if TYPE_CHECKING:
    from monitoring.contract.configurations import Configuration
    from monitoring.notifications.channels.message import Message

HOSTS = ("api.opsgenie.com", "api.eu.opsgenie.com", "api.atlassian.com")
_ADDRESSES = {
    "us": "https://api.opsgenie.com/v2/alerts",
    "eu": "https://api.eu.opsgenie.com/v2/alerts",
    "jira": "https://api.atlassian.com/jsm/ops/integration/v2/alerts",
}
MAX_MESSAGE_CHARACTERS = 130


def write(message: Message, channel: Configuration) -> Post:
    """Create an alert, or acknowledge or close the one of an incident."""
    address = _ADDRESSES[channel["region"]]
    headers = {"Authorization": f"GenieKey {channel['api_key']}"}
    if message.ends_subject or message.takes_subject:
        what = "close" if message.ends_subject else "acknowledge"
        url = f"{address}/{quote(message.key)}/{what}?identifierType=alias"
        body = {"source": message.source, "note": f"{message.title}. {message.text}"}
        return Post(url=url, body=body, headers=headers)
    body = {
        "message": message.title[:MAX_MESSAGE_CHARACTERS],
        "alias": message.key,
        "description": f"{message.text}\n{message.link}",
        "source": message.source,
        "priority": "P1"
        if message.event == "incident.opened"
        else "P3"
        if message.mood is Mood.BAD
        else "P5",
    }
    return Post(url=address, body=body, headers=headers)
