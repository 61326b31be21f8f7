"""Slack: a message with an attachment, whose margin has a colour, to an incoming webhook.

https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.notifications.channels.posting import Post

if TYPE_CHECKING:
    from monitoring.contract.configurations import Configuration
    from monitoring.notifications.channels.message import Message

HOSTS = ("hooks.slack.com", "hooks.slack-gov.com")

# "Slack uses these three characters as control characters": mentions and links begin with <.
# https://docs.slack.dev/messaging/formatting-message-text#escaping
_CONTROLS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def write(message: Message, channel: Configuration) -> Post:
    """Write a message for Slack."""
    title, text = message.title.translate(_CONTROLS), message.text.translate(_CONTROLS)
    attachment = {
        "fallback": f"{title}: {text}",
        "color": message.mood,
        "title": title,
        "title_link": message.link,
        "text": text,
        "mrkdwn_in": [],  # no field is formatted
        "actions": [{"type": "button", "text": text, "url": url} for text, url in message.links.items()],
    }
    return Post(url=channel["url"], body={"attachments": [attachment]})
