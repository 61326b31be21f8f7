"""Discord: an embed, sent to a Discord channel's webhook.

https://discord.com/developers/docs/resources/webhook#execute-webhook
"""

from __future__ import annotations

import re

from monitoring.contract.configurations import Configuration
from monitoring.notifications.channels.json_posts import Post
from monitoring.notifications.channels.limits import LIMITS, cut, fit
from monitoring.notifications.channels.message import Message

HOSTS = ("discord.com", "discordapp.com", "canary.discord.com", "ptb.discord.com")

_LIMITS = LIMITS["discord"]

# The special characters of Discord's Markdown. A backslash makes Discord show the next character literally.
_MARKDOWN = re.compile(r"([\\*_~`|<>\[\]()#@:-])")


def write(message: Message, channel: Configuration) -> Post:
    """Render a message for Discord, with mentions disabled."""
    acknowledge = message.markdown_link
    text = fit(message.text, _LIMITS["description"].beside(acknowledge), _escape)
    embed = {
        "title": cut(message.title, _LIMITS["title"], _escape),
        "url": message.link,
        "description": text + acknowledge,
        "color": message.mood.number,
    }
    body = {"embeds": [embed], "allowed_mentions": {"parse": []}}
    return Post(url=channel["url"], body=body)


def _escape(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)
