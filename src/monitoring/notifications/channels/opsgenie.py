"""Creates, acknowledges and closes alerts in Opsgenie and Jira Service Management, which share an API.

https://docs.opsgenie.com/docs/alert-api
https://developer.atlassian.com/cloud/jira/service-desk-ops/rest/v1/api-group-integration-events/
"""

from __future__ import annotations

from urllib.parse import quote

from monitoring.contract.configurations import Configuration
from monitoring.notifications.channels.json_posts import Post
from monitoring.notifications.channels.limits import LIMITS, cut, fit
from monitoring.notifications.channels.message import Message, Mood

HOSTS = ("api.opsgenie.com", "api.eu.opsgenie.com", "api.atlassian.com")
_ADDRESSES = {
    "us": "https://api.opsgenie.com/v2/alerts",
    "eu": "https://api.eu.opsgenie.com/v2/alerts",
    "jira": "https://api.atlassian.com/jsm/ops/integration/v2/alerts",
}
_LIMITS = LIMITS["opsgenie"]


def write(message: Message, channel: Configuration) -> Post:
    """Render a message as a request that creates an alert, or acknowledges or closes an incident's alert."""
    address = _ADDRESSES[channel["region"]]
    headers = {"Authorization": f"GenieKey {channel['api_key']}"}
    source = cut(message.source, _LIMITS["source"])
    if message.resolves_incident or message.acknowledges_incident:
        what = "close" if message.resolves_incident else "acknowledge"
        url = f"{address}/{quote(message.key)}/{what}?identifierType=alias"
        body = {"source": source, "note": fit(f"{message.title}.\n{message.text}", _LIMITS["note"])}
        return Post(url=url, body=body, headers=headers)
    link = f"\n{message.link}"
    body = {
        "message": cut(message.title, _LIMITS["message"]),
        "alias": message.key,
        "description": f"{fit(message.text, _LIMITS['description'].beside(link))}{link}",
        "source": source,
        "priority": "P1"
        if message.event == "incident.opened"
        else "P3"
        if message.mood is Mood.BAD
        else "P5",
    }
    return Post(url=address, body=body, headers=headers)
