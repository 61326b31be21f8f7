"""Microsoft Teams: an Adaptive Card, sent to a workflow with a webhook trigger.

https://learn.microsoft.com/en-us/connectors/teams/#microsoft-teams-webhook
https://adaptivecards.io/explorer/AdaptiveCard.html
"""

from __future__ import annotations

from monitoring.contract.configurations import Configuration
from monitoring.contract.document import Json
from monitoring.notifications.channels.json_posts import Post
from monitoring.notifications.channels.limits import LIMITS, fit
from monitoring.notifications.channels.message import Message, Mood

HOSTS = (".logic.azure.com", ".api.powerplatform.com")

_COLOURS = {Mood.BAD: "attention", Mood.GOOD: "good", Mood.NEUTRAL: "default"}


def write(message: Message, channel: Configuration) -> Post:
    """Render a message for Teams as text runs, because Teams would interpret text blocks as Markdown."""
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",  # the newest version that every Teams client supports
        "fallbackText": message.title,
        "body": [
            _paragraph(message.title, weight="bolder", size="medium", color=_COLOURS[message.mood]),
            _paragraph(fit(message.text, LIMITS["microsoft_teams"]["text"])),
        ],
        "actions": [
            {"type": "Action.OpenUrl", "title": title, "url": url} for title, url in message.links.items()
        ],
    }
    attachment = {
        "contentType": "application/vnd.microsoft.card.adaptive",
        "contentUrl": None,
        "content": card,
    }
    body = {"type": "message", "attachments": [attachment]}
    return Post(url=channel["url"], body=body)


def _paragraph(text: str, **style: str) -> dict[str, Json]:
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, **style}]}
