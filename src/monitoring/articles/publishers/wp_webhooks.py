"""WP Webhooks: a WordPress plugin that sends a post's database row and related data.

https://wp-webhooks.com/docs, and `integrations/wordpress/triggers` in its source.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitoring.articles.publishers.payload_fields import (
    image_at,
    latest_gmt,
    names_of,
    plain_text,
    website_at,
)

DELETION = "post_delete"  # in the header X-WP-Webhook-Name


def adapt(payload: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Convert a post to a submission, or return None if the payload is another publisher's.

    The timestamp is the later of `post_modified_gmt` and `post_date_gmt`, because scheduled publication does
    not change `post_modified_gmt`.
    """
    post = payload.get("post")
    if "post_id" not in payload or not isinstance(post, dict) or "post_title" not in post:
        return None
    address = payload.get("post_permalink")
    return [
        {
            "status": "private" if post.get("post_password") else post.get("post_status"),
            "timestamp": latest_gmt(post.get("post_modified_gmt"), post.get("post_date_gmt")),
            "main_image": image_at(payload.get("post_thumbnail")),
            "website": website_at(address),
            "article": {
                "id": payload["post_id"],
                "slug": post.get("post_name"),
                "title": plain_text(post["post_title"]),
                "content_html": post.get("post_content"),
                "excerpt": post.get("post_excerpt"),
                "tags": names_of(_tags_in(payload.get("taxonomies"))),
                "published_at": latest_gmt(post.get("post_date_gmt")),
                "url": address if isinstance(address, str) else None,
            },
        }
    ]


def _tags_in(taxonomies: object) -> list[Any]:
    """Return the `post_tag` terms.

    A list means that there are no terms, because PHP writes an empty object as a list.
    """
    terms = taxonomies.get("post_tag") if isinstance(taxonomies, dict) else None
    return list(terms.values()) if isinstance(terms, dict) else []
