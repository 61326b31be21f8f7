"""Rows as the document writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from monitoring.articles.models import PublicationStatus
from monitoring.contract.timestamps import write_timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monitoring.articles.models import Article, Translation


def represent_accepted(article: Article, locales: Sequence[str]) -> dict[str, Any]:
    """Write `ArticleAccepted` for a submission that was taken in."""
    is_published = article.status == PublicationStatus.PUBLISHED
    return {
        "article_id": str(article.id),
        "status": "accepted",
        "locales": list(locales) if is_published else [],
    }


def represent_ignored() -> dict[str, Any]:
    """Write `ArticleAccepted` for a test submission."""
    return {"article_id": None, "status": "ignored", "locales": []}


def represent_article(article: Article) -> dict[str, Any]:
    """Write `Article` with its translations, which the caller has fetched, sorted by locale."""
    translations = sorted(article.translations, key=lambda translation: translation.locale)
    return {
        "id": str(article.id),
        "slug": article.slug,
        "title": article.title,
        "status": article.status,
        "revision": article.revision,
        "received_at": write_timestamp(article.received_at),
        "updated_at": write_timestamp(article.updated_at),
        "translations": [_represent_translation(translation) for translation in translations],
    }


def _represent_translation(translation: Translation) -> dict[str, Any]:
    return {
        "locale": translation.locale,
        "status": translation.status,
        "revision": translation.revision,
        "attempts": translation.attempts,
        "reason": translation.reason,
        "untranslated_segments": translation.untranslated_segments,
        "translated_at": write_timestamp(translation.translated_at),
    }
