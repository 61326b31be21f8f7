"""ntfy: a message to a topic, as JSON.

https://docs.ntfy.sh/publish/#publish-as-json
"""

from __future__ import annotations

from urllib.parse import urlsplit

from monitoring.contract.configurations import Configuration
from monitoring.notifications.channels.json_posts import Post
from monitoring.notifications.channels.limits import LIMITS, fit
from monitoring.notifications.channels.message import Message, Mood

HOSTS = ("ntfy.sh",)

# https://docs.ntfy.sh/publish/#message-priority
_PRIORITIES = {Mood.BAD: 5, Mood.GOOD: 3, Mood.NEUTRAL: 3}
_TAGS = {Mood.BAD: "rotating_light", Mood.GOOD: "white_check_mark", Mood.NEUTRAL: "information_source"}


def write(message: Message, channel: Configuration) -> Post:
    """Render a message for ntfy. JSON is posted to the server's root URL, not to a topic's URL."""
    body = {
        "topic": channel["topic"],
        "title": message.title,
        "message": fit(message.text, LIMITS["ntfy"]["message"]),
        "priority": _PRIORITIES[message.mood],
        "tags": [_TAGS[message.mood]],
        "click": message.link,
        "actions": [{"action": "view", "label": label, "url": url} for label, url in message.links.items()],
    }
    server = urlsplit(channel["url"])
    headers = {"Authorization": f"Bearer {channel['token']}"} if channel.get("token") else {}
    url = f"{server.scheme}://{server.netloc}/"
    return Post(url=url, body=body, headers=headers)
