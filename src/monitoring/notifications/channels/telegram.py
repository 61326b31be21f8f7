"""Telegram: a message from a bot.

https://core.telegram.org/bots/api#sendmessage
"""

from __future__ import annotations

from monitoring.contract.configurations import Configuration
from monitoring.notifications.channels.json_posts import Post
from monitoring.notifications.channels.limits import LIMITS, fit
from monitoring.notifications.channels.message import Message

HOSTS = ("api.telegram.org",)

# Without `parse_mode`, text is shown literally, but a mention such as @name still notifies a person. A
# zero-width character after the @ prevents the notification.
_NO_MENTION = "@\u200b"


def write(message: Message, channel: Configuration) -> Post:
    """Render a message as a request to Telegram's bot API."""
    links = "".join(f"\n{label}: {link}" for label, link in message.links.items())
    said = f"{message.title}\n{message.text}"
    body = {
        "chat_id": channel["chat_id"],
        "text": fit(said, LIMITS["telegram"]["text"].beside(links), _mention_nobody) + links,
        "link_preview_options": {"is_disabled": True},
    }
    url = f"https://api.telegram.org/bot{channel['bot_token']}/sendMessage"
    return Post(url=url, body=body)


def _mention_nobody(text: str) -> str:
    return text.replace("@", _NO_MENTION)
