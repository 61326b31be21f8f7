"""Telegram: a message of a bot.

https://core.telegram.org/bots/api#sendmessage
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.notifications.channels.posting import Post

if TYPE_CHECKING:
    from monitoring.contract.configurations import Configuration
    from monitoring.notifications.channels.message import Message

HOSTS = ("api.telegram.org",)

# Without `parse_mode` nothing is formatted, but @names are links that tell people. A character without width
# after the @ keeps them off.
_NO_MENTION = "@\u200b"


def write(message: Message, channel: Configuration) -> Post:
    """Write a message for Telegram."""
    text = f"{message.title}\n{message.text}".replace("@", _NO_MENTION)
    body = {
        "chat_id": channel["chat_id"],
        "text": "\n".join([text, *(f"{what}: {link}" for what, link in message.links.items())]),
        "link_preview_options": {"is_disabled": True},
    }
    url = f"https://api.telegram.org/bot{channel['bot_token']}/sendMessage"
    return Post(url=url, body=body)
