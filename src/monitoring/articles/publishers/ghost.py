"""Ghost: webhooks for its `post.*` events, which contain the post but no event name.

https://docs.ghost.org/webhooks, and `services/webhooks/serialize.js` in its source.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitoring.articles.publishers.payload_fields import image_at, names_of

KEPT_FIELDS = ("id", "slug", "title", "meta_title", "meta_description", "published_at", "url")


def adapt(payload: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Convert a post to a submission, or return None if the payload is another publisher's.

    Authors are omitted, because Ghost includes their email addresses.
    """
    post = payload.get("post")
    if not isinstance(post, dict) or "current" not in post:
        return None
    current, previous = post["current"], post.get("previous") or {}
    if not current:
        return [
            {
                "event": "delete",
                "timestamp": previous.get("updated_at"),
                "article": {"id": previous.get("id"), "slug": previous.get("slug")},
            }
        ]
    kept = {name: current.get(name) for name in KEPT_FIELDS}
    return [
        {
            "status": _read_status(current),
            "timestamp": current.get("updated_at"),
            "main_image": image_at(current.get("feature_image"), current.get("feature_image_alt")),
            "article": kept
            | {
                "content_html": current.get("html"),
                "excerpt": current.get("custom_excerpt"),
                "tags": names_of(current.get("tags")),
            },
        }
    ]


def _read_status(post: Mapping[str, Any]) -> str:
    """Return "published" if the post is published and public, else "draft".

    Members-only posts count as drafts. So do posts with the status `sent`, which were emailed but not
    published on the site.
    """
    is_public = post.get("visibility") in (None, "public")
    return "published" if is_public and post.get("status", "published") == "published" else "draft"
