"""WordPress: a post in its REST API format, as forwarded by automations.

https://developer.wordpress.org/rest-api/reference/posts/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitoring.articles.publishers.payload_fields import latest_gmt, plain_text, website_at


def adapt(payload: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Convert a post to a submission, or return None if the payload is another publisher's.

    The timestamp is the later of `modified_gmt` and `date_gmt`, because scheduled publication does not change
    `modified_gmt`.
    """
    title = payload.get("title")
    if not isinstance(title, dict) or "rendered" not in title:
        return None
    content, excerpt = payload.get("content") or {}, payload.get("excerpt") or {}
    return [
        {
            "status": "private" if content.get("protected") else payload.get("status"),
            "timestamp": latest_gmt(payload.get("modified_gmt"), payload.get("date_gmt")),
            "website": website_at(payload.get("link")),
            "article": {
                "id": payload.get("id"),
                "slug": payload.get("slug"),
                "title": plain_text(title["rendered"]),
                "content_html": content.get("rendered"),
                "excerpt": plain_text(excerpt.get("rendered")),
                "published_at": latest_gmt(payload.get("date_gmt")),
                "url": payload.get("link"),
            },
        }
    ]
