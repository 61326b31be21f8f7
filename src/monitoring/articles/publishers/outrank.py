"""Outrank: its webhook posts one or more articles per request.

https://docs.outrank.so/article/using-webhooks-for-custom-integrations-evfi
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitoring.articles.publishers.payload_fields import image_at


def adapt(payload: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Convert articles to submissions, or return None if the payload is another publisher's.

    Except for `image_url` and `created_at`, an article's fields have the same names as in the OpenAPI
    document.
    """
    data = payload.get("data")
    if "event_type" not in payload or not isinstance(data, dict) or "articles" not in data:
        return None
    return [
        {
            "event": payload["event_type"],
            "timestamp": payload.get("timestamp"),
            "main_image": image_at(article.get("image_url")),
            "article": _published_at(article.get("created_at")) | article,
        }
        for article in data["articles"]
    ]


def _published_at(created_at: object) -> dict[str, Any]:
    return {"published_at": created_at} if isinstance(created_at, str) else {}
