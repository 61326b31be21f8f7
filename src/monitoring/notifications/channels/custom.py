"""Custom channels: HTTP requests with a method, headers and a body that the team defines."""

from __future__ import annotations

import re
from collections.abc import Mapping

from monitoring.contract.configurations import Configuration
from monitoring.contract.document import Json
from monitoring.notifications.channels.json_posts import Post
from monitoring.notifications.channels.message import Message

# The schema `CustomBody` in the OpenAPI document explains the placeholders.
_PLACEHOLDER = re.compile(r"\{\{(title|text|link|acknowledge_link|event|id)\}\}")


def write(message: Message, channel: Configuration) -> Post:
    """Render a message as the request that the channel's configuration defines.

    Placeholders are replaced before the body is serialised as JSON, so their values cannot inject JSON.
    """
    words = {
        "title": message.title,
        "text": message.text,
        "link": message.link,
        "acknowledge_link": message.acknowledge_link or "",
        "event": message.event,
        "id": str(message.subject_id or ""),
    }
    headers = {header["name"]: header["value"] for header in channel["headers"]}
    return Post(
        method=channel["method"],
        url=channel["url"],
        body=_fill_in(channel["body"], words),
        headers=headers,
    )


def _fill_in(value: Json, words: Mapping[str, str]) -> Json:
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda placeholder: words[placeholder[1]], value)
    if isinstance(value, list):
        return [_fill_in(item, words) for item in value]
    if isinstance(value, dict):
        return {name: _fill_in(item, words) for name, item in value.items()}
    return value
