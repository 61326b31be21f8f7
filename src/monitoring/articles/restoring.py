"""Makes the blog storage again from the rows, after it was lost or has moved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from monitoring.articles.models import Article, TranslationStatus
from monitoring.articles.service import NEVER
from monitoring.articles.storage import SOURCE_LOCALE, find_missing_locales, find_versions, put_page
from monitoring.backends.database import transaction

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ARTICLES_A_PAGE = 200


@dataclass(slots=True)
class Restored:
    """How many files were missing: originals that were put again, translations that were queued again."""

    originals: int = 0
    translations: int = 0


async def restore_files(article_id: UUID | None = None) -> Restored:
    """Put every missing original and queue every missing translation, of one article or of all.

    What is there stays. Idempotent; may run beside the service. Raises `StorageUnavailable`.
    """
    restored = Restored()
    async for found_id in _find_articles(article_id):
        await _restore(found_id, restored)
    return restored


async def _find_articles(article_id: UUID | None) -> AsyncIterator[UUID]:
    if article_id:
        yield article_id
        return
    last_id = UUID(int=0)
    while page := await Article.filter(id__gt=last_id).order_by("id").limit(ARTICLES_A_PAGE).only("id"):
        for article in page:
            last_id = article.id
            yield last_id


async def _restore(article_id: UUID, restored: Restored) -> None:
    async with transaction():
        article = await Article.select_for_update().get(id=article_id)
        translated = article.translations.filter(status=TranslationStatus.TRANSLATED)
        locales = [row.locale for row in await translated]
        missing = await find_missing_locales(article.slug, [SOURCE_LOCALE, *locales])
        if SOURCE_LOCALE in missing:
            versions = await find_versions(article.slug, SOURCE_LOCALE)
            await put_page(article, SOURCE_LOCALE, article.payload, replacing=versions)
            restored.originals += 1
        queued = await translated.filter(locale__in=missing).update(
            status=TranslationStatus.QUEUED, attempts=0, due_at=datetime.now(UTC), translated_at=None
        )
        if queued:
            await Article.filter(id=article_id).update(nudged_at=NEVER)
            restored.translations += queued
