"""Mattermost: an attachment, sent to an incoming webhook.

https://developers.mattermost.com/integrate/webhooks/incoming
https://developers.mattermost.com/integrate/reference/message-attachments
"""

from __future__ import annotations

import re

from monitoring.contract.configurations import Configuration
from monitoring.notifications.channels.json_posts import Post
from monitoring.notifications.channels.limits import LIMITS, fit
from monitoring.notifications.channels.message import Message

_LIMITS = LIMITS["mattermost"]

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+.!|<>~:&-])")
# Attachments can contain mentions. A backslash does not disable a mention, but a zero-width character does.
_MENTION = re.compile("@")


def write(message: Message, channel: Configuration) -> Post:
    """Render a message for Mattermost, with mentions disabled."""
    acknowledge = message.markdown_link
    text = fit(message.text, _LIMITS["text"].beside(acknowledge), _escape)
    attachment = {
        "fallback": fit(message.summary, _LIMITS["fallback"]),
        "color": message.mood,
        "title": _escape(message.title),
        "title_link": message.link,
        "text": text + acknowledge,
    }
    return Post(url=channel["url"], body={"attachments": [attachment]})


def _escape(text: str) -> str:
    return _MENTION.sub("@\u200b", _MARKDOWN.sub(r"\\\1", text))
