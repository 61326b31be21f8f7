"""Rows as the document writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from monitoring.articles.models import Article, Translation


def represent_accepted(article: Article, locales: Sequence[str]) -> dict[str, Any]:
    """Write `ArticleAccepted` for a delivery that was taken in."""
    return {"article_id": str(article.id), "status": "accepted", "locales": list(locales)}


def represent_ignored() -> dict[str, Any]:
    """Write `ArticleAccepted` for a test delivery."""
    return {"article_id": None, "status": "ignored", "locales": []}


def represent_article(article: Article) -> dict[str, Any]:
    """Write `Article`, its translations in the order of their locales. They have been fetched."""
    translations = sorted(article.translations, key=lambda translation: translation.locale)
    return {
        "id": str(article.id),
        "slug": article.slug,
        "title": article.title,
        "revision": article.revision,
        "received_at": write_moment(article.received_at),
        "updated_at": write_moment(article.updated_at),
        "translations": [_represent_translation(translation) for translation in translations],
    }


def _represent_translation(translation: Translation) -> dict[str, Any]:
    return {
        "locale": translation.locale,
        "status": translation.status,
        "revision": translation.revision,
        "attempts": translation.attempts,
        "reason": translation.reason,
        "translated_at": translation.translated_at and write_moment(translation.translated_at),
    }


def write_moment(moment: datetime) -> str:
    """Write RFC 3339 in UTC, with microseconds and `Z`."""
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
