"""Rebuilds the blog storage from the database after it was lost or moved."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from monitoring.articles.models import Article, PublicationStatus, SiteFiles, TranslationStatus
from monitoring.articles.queueing import NEVER
from monitoring.articles.service import page_through_articles
from monitoring.articles.storage import (
    SOURCE_LOCALE,
    find_missing_locales,
    find_versions,
    page_transaction,
    put_page,
    remove_other_exports,
)
from monitoring.backends.current import current_backends


@dataclass(slots=True)
class Restored:
    """How many originals were stored again, and how many translations requeued, because of missing files."""

    originals: int = 0
    translations: int = 0


async def restore_files(article_id: UUID | None = None) -> Restored:
    """Store every missing original and queue every missing translation, for one article or all articles.

    Existing files stay unchanged, except that exports in layouts other than `BLOG_EXPORT` are removed.
    Idempotent. The service may run at the same time. Raises `StorageUnavailable`.
    """
    restored = Restored()
    if article_id:
        await _restore(article_id, restored)
        return restored
    await SiteFiles.all().update(written="")  # the next check then rewrites the site-wide files
    async for page in page_through_articles():
        for found_id in page:
            await _restore(found_id, restored)
    return restored


async def _restore(article_id: UUID, restored: Restored) -> None:
    async with page_transaction():
        article = await Article.select_for_update().get(id=article_id)
        if article.status != PublicationStatus.PUBLISHED:
            return
        versions = await find_versions(article.slug, SOURCE_LOCALE)
        translated = article.translations.filter(status=TranslationStatus.TRANSLATED)
        locales = [row.locale for row in await translated]
        missing = await find_missing_locales(article.slug, [SOURCE_LOCALE, *locales])
        if SOURCE_LOCALE in missing:
            await put_page(article, SOURCE_LOCALE, article.payload, replacing=versions)
            restored.originals += 1
        await remove_other_exports(article.slug)
        queued = await translated.filter(locale__in=missing).update(
            status=TranslationStatus.QUEUED,
            attempts=0,
            due_at=current_backends().clock.now(),
            translated_at=None,
        )
        if queued:
            await Article.filter(id=article_id).update(nudged_at=NEVER)
            restored.translations += queued
