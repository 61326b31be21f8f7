"""Discord: an embed, to a webhook of a Discord channel.

https://discord.com/developers/docs/resources/webhook#execute-webhook
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from monitoring.notifications.channels.posting import Post

if TYPE_CHECKING:
    from monitoring.contract.configurations import Configuration
    from monitoring.notifications.channels.message import Message

HOSTS = ("discord.com", "discordapp.com", "canary.discord.com", "ptb.discord.com")

# https://discord.com/developers/docs/resources/message#embed-object-embed-limits
MAX_TITLE_CHARACTERS = 256

# What Markdown of Discord begins with. A backslash before punctuation shows it as it is.
_MARKDOWN = re.compile(r"([\\*_~`|<>\[\]()#@:-])")


def write(message: Message, channel: Configuration) -> Post:
    """Write a message for Discord. Nothing in it mentions anybody."""
    embed = {
        "title": _escape(message.title)[:MAX_TITLE_CHARACTERS],
        "url": message.link,
        "description": _escape(message.text) + message.markdown_link,
        "color": message.mood.number,
    }
    body = {"embeds": [embed], "allowed_mentions": {"parse": []}}
    return Post(url=channel["url"], body=body)


def _escape(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)
