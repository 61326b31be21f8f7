"""Renders database rows as JSON objects of the OpenAPI document's schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from monitoring.articles.models import Article, PublicationStatus, TestArticle, Translation
from monitoring.articles.own_translations import PUBLISHER
from monitoring.backends.pages import Page
from monitoring.contract.cursors import PagedList, next_cursor
from monitoring.contract.timestamps import write_timestamp

if TYPE_CHECKING:
    from monitoring.articles.corrections import TranslatedSegment


def represent_accepted(articles: Sequence[Article | TestArticle], locales: Sequence[str]) -> dict[str, Any]:
    """Render `ArticleAccepted` for a submission whose articles were received."""
    is_published = articles[0].status == PublicationStatus.PUBLISHED
    several = {"article_ids": [str(article.id) for article in articles]} if len(articles) > 1 else {}
    return {
        "article_id": str(articles[0].id),
        **several,
        "status": "accepted",
        "locales": list(locales) if is_published else [],
    }


def represent_ignored() -> dict[str, Any]:
    """Render `ArticleAccepted` for a test submission."""
    return {"article_id": None, "status": "ignored", "locales": []}


def represent_article(article: Article) -> dict[str, Any]:
    """Render `Article`, with its translations sorted by locale. The caller must prefetch the translations."""
    translations = sorted(article.translations, key=lambda translation: translation.locale)
    return _describe(article, [represent_state(translation) for translation in translations])


def represent_test_article(article: TestArticle) -> dict[str, Any]:
    """Render `Article` for a test article."""
    states = sorted(article.translations, key=lambda state: str(state["locale"]))
    return {**_describe(article, states), "is_test": True}


def _describe(article: Article | TestArticle, states: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": str(article.id),
        "slug": article.slug,
        "title": article.title,
        "status": article.status,
        "revision": article.revision,
        "tags": article.tags or [],
        "received_at": write_timestamp(article.received_at),
        "updated_at": write_timestamp(article.updated_at),
        "translations": states,
    }


def represent_page(page: Page[Article]) -> dict[str, Any]:
    """Render `ArticleList` for a page of articles."""
    return {
        "articles": [represent_article(article) for article in page.rows],
        "next_cursor": next_cursor(PagedList.ARTICLES, page.continues_after),
    }


def represent_translation(article: Article, locale: str, page: Mapping[str, Any]) -> dict[str, Any]:
    """Render `ArticleTranslation` for a page in the blog storage.

    Optional fields of the page may be missing, because other programs may have written it.
    """
    return {
        "article_id": str(article.id),
        "slug": article.slug,
        "locale": locale,
        "revision": page["revision"],
        "translated_at": page.get("translated_at"),
        "engine": page.get("engine"),
        "is_publishers_own": page.get("engine") == PUBLISHER,
        "is_demonstration": page.get("is_demonstration", False),
        "untranslated_segments": page.get("untranslated_segments", 0),
        "corrected_segments": page.get("corrected_segments", 0),
        "submission": page["delivery"],
    }


def represent_segment(segment: TranslatedSegment) -> dict[str, Any]:
    """Render a `Segment`."""
    return {
        "id": segment.hash,
        "source": segment.source,
        "text": segment.text,
        "is_corrected": segment.is_corrected,
    }


def represent_segments(segments: Sequence[TranslatedSegment], *, has_more: bool) -> dict[str, Any]:
    """Render `SegmentList`.

    The cursor contains the hash of the last segment, encoded as a UUID because it has the same length.
    """
    return {
        "segments": [represent_segment(segment) for segment in segments],
        "next_cursor": next_cursor(
            PagedList.TRANSLATION_SEGMENTS, UUID(hex=segments[-1].hash) if has_more else None
        ),
    }


def represent_state(translation: Translation) -> dict[str, Any]:
    """Render `Translation`, the state of one locale."""
    return {
        "locale": translation.locale,
        "status": translation.status,
        "revision": translation.revision,
        "attempts": translation.attempts,
        "reason": translation.reason,
        "untranslated_segments": translation.untranslated_segments if translation.translated_at else None,
        "translated_at": write_timestamp(translation.translated_at),
        "is_publishers_own": translation.engine == PUBLISHER,
    }
