"""PagerDuty: events that trigger an incident, acknowledge it and resolve it.

https://developer.pagerduty.com/docs/send-alert-event
https://developer.pagerduty.com/docs/service-regions
"""

from __future__ import annotations

from monitoring.contract.configurations import Configuration
from monitoring.notifications.channels.json_posts import Post
from monitoring.notifications.channels.limits import LIMITS, cut
from monitoring.notifications.channels.message import Message, Mood

HOSTS = ("events.pagerduty.com", "events.eu.pagerduty.com")
_ADDRESSES = {
    "us": "https://events.pagerduty.com/v2/enqueue",
    "eu": "https://events.eu.pagerduty.com/v2/enqueue",
}
_LIMITS = LIMITS["pagerduty"]


def write(message: Message, channel: Configuration) -> Post:
    """Render an event for PagerDuty. All events of one incident share a deduplication key."""
    body = {
        "routing_key": channel["routing_key"],
        "event_action": _choose_action(message),
        "dedup_key": message.key,
        "payload": {
            "summary": cut(message.title, _LIMITS["summary"]),
            "source": cut(message.source, _LIMITS["source"]),
            "severity": _say_severity(message),
            "class": message.event,
            "custom_details": {"text": message.text},
        },
        "links": [{"href": message.link, "text": "Open"}],
    }
    return Post(url=_ADDRESSES[channel["region"]], body=body)


def _choose_action(message: Message) -> str:
    if message.resolves_incident:
        return "resolve"
    return "acknowledge" if message.acknowledges_incident else "trigger"


def _say_severity(message: Message) -> str:
    if message.mood is not Mood.BAD:
        return "info"
    return "critical" if message.event.startswith("incident.") else "warning"
