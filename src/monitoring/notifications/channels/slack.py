"""Slack: a message with a coloured attachment, sent to an incoming webhook.

https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments
"""

from __future__ import annotations

from monitoring.contract.configurations import Configuration
from monitoring.notifications.channels.json_posts import Post
from monitoring.notifications.channels.limits import LIMITS, fit
from monitoring.notifications.channels.message import Message

HOSTS = ("hooks.slack.com", "hooks.slack-gov.com")

_LIMITS = LIMITS["slack"]

# "Slack uses these three characters as control characters". For example, mentions and links begin with <.
# https://docs.slack.dev/messaging/formatting-message-text#escaping
_CONTROLS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def write(message: Message, channel: Configuration) -> Post:
    """Render a message as a request to Slack."""
    attachment = {
        "fallback": fit(message.summary, _LIMITS["fallback"], _escape),
        "color": message.mood,
        "title": _escape(message.title),
        "title_link": message.link,
        "text": fit(message.text, _LIMITS["text"], _escape),
        "mrkdwn_in": [],  # no field is formatted as Slack's Markdown
        "actions": [{"type": "button", "text": label, "url": url} for label, url in message.links.items()],
    }
    return Post(url=channel["url"], body={"attachments": [attachment]})


def _escape(text: str) -> str:
    return text.translate(_CONTROLS)
