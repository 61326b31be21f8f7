"""Pushover: a message to a user's or a group's devices.

https://pushover.net/api
"""

from __future__ import annotations

from monitoring.contract.configurations import Configuration
from monitoring.notifications.channels.json_posts import Post
from monitoring.notifications.channels.limits import LIMITS, cut, fit
from monitoring.notifications.channels.message import Message, Mood

HOSTS = ("api.pushover.net",)

ADDRESS = "https://api.pushover.net/1/messages.json"
_LIMITS = LIMITS["pushover"]

# Priority 1 bypasses the user's quiet hours. https://pushover.net/api#priority
_PRIORITIES = {Mood.BAD: 1, Mood.GOOD: 0, Mood.NEUTRAL: 0}


def write(message: Message, channel: Configuration) -> Post:
    """Render a message for Pushover. Without `html`, Pushover links URLs and shows other text literally."""
    end = f"\nAcknowledge: {message.acknowledge_link}" if message.acknowledge_link else ""
    body = {
        "token": channel["app_token"],
        "user": channel["user_key"],
        "title": cut(message.title, _LIMITS["title"]),
        "message": fit(message.text, _LIMITS["message"].beside(end)) + end,
        "priority": _PRIORITIES[message.mood],
        "url": message.link,
        "url_title": "Open",
    }
    return Post(url=ADDRESS, body=body)
