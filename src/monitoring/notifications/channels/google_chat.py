"""Google Chat: a card, sent to a space's webhook.

https://developers.google.com/workspace/chat/quickstart/webhooks
https://developers.google.com/workspace/chat/api/reference/rest/v1/cards
"""

from __future__ import annotations

from html import escape

from monitoring.contract.configurations import Configuration
from monitoring.notifications.channels.json_posts import Post
from monitoring.notifications.channels.limits import LIMITS, fit
from monitoring.notifications.channels.message import Message

HOSTS = ("chat.googleapis.com",)

_LIMITS = LIMITS["google_chat"]


def write(message: Message, channel: Configuration) -> Post:
    """Render a message for Google Chat. Cards interpret text as a subset of HTML, so all text is escaped.

    https://developers.google.com/workspace/chat/format-messages#card-formatting
    """
    title = f'<b><font color="{message.mood}">{escape(message.title)}</font></b>'
    buttons = [{"text": text, "onClick": {"openLink": {"url": url}}} for text, url in message.links.items()]
    widgets = [
        {"textParagraph": {"text": title}},
        {"textParagraph": {"text": fit(message.text, _LIMITS["text"], escape)}},
        {"buttonList": {"buttons": buttons}},
    ]
    card = {"cardId": "notification", "card": {"sections": [{"widgets": widgets}]}}
    body = {"fallbackText": fit(message.summary, _LIMITS["fallbackText"]), "cardsV2": [card]}
    return Post(url=channel["url"], body=body)
