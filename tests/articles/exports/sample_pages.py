"""Pages of the blog storage, for exports to write."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import yaml

PUBLISHED_AT = datetime(2026, 11, 20, 9, tzinfo=UTC)
RECEIVED_AT = datetime(2026, 11, 20, 9, 0, 6, tzinfo=UTC)
TRANSLATED_AT = datetime(2026, 11, 20, 9, 0, 7, tzinfo=UTC)

ARTICLE_ID = "019a9c41-0c2e-7f55-8a3b-6d1f9e4b7a12"


def make_page(
    *, is_demonstration: bool = False, delivery: dict[str, Any] | None = None, **article: Any
) -> Any:
    """Write a page as `put_page` does."""
    return {
        "article_id": ARTICLE_ID,
        "slug": "shoes",
        "locale": "pt-BR",
        "revision": 2,
        "received_at": "2026-11-20T09:00:06.000000Z",
        "translated_at": "2026-11-20T09:00:07.000000Z",
        "is_demonstration": is_demonstration,
        "delivery": {"article": article, **(delivery or {})},
    }


def read_front_matter(file: str) -> Any:
    return yaml.safe_load(file.split("\n---\n", 1)[0])


def read_text(file: str) -> str:
    return file.split("\n---\n\n", 1)[1]
