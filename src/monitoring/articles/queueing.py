"""Queues translations: their rows say so, and workers and sweeps find them there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from tortoise.expressions import Subquery
from tortoise.queryset import QuerySet

from monitoring.articles.intake import make_translations
from monitoring.articles.models import Article, Translation, TranslationStatus
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.inserts import insert_together

# As if the last message had been sent at the beginning of time: the next sweep finds the article.
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


async def queue_translations(article: Article, locales: Sequence[str], now: datetime) -> bool:
    """Queue every locale that is missing or behind the article's revision, within the caller's transaction.

    Returns whether there was any. A worker that is translating an earlier revision loses its claim, and with
    it the right to store its work. Locales that are no longer configured stay as they are.
    """
    rows = Translation.filter(article_id=article.id, locale__in=locales)
    known = {row.locale for row in await rows.only("locale")}
    missing = [locale for locale in locales if locale not in known]
    if missing:
        connection = current_backends().database.context.db()
        await insert_together(connection, *make_translations(article, missing, now))
    count_behind = await rows.exclude(revision=article.revision).update(
        revision=article.revision,
        status=TranslationStatus.QUEUED,
        attempts=0,
        worker_deaths=0,
        due_at=now,
        claim=None,
        reason=None,
        untranslated_segments=0,
        translated_at=None,
    )
    return bool(missing or count_behind)


async def retry_failed(article_id: UUID | None = None, locale: str | None = None) -> int:
    """Queue failed translations again with a full number of attempts. Returns how many there were.

    The sweep of any process that works on this database then sends messages for them.
    """
    failed = Translation.filter(status=TranslationStatus.FAILED)
    if article_id:
        failed = failed.filter(article_id=article_id)
    if locale:
        failed = failed.filter(locale=locale)
    async with transaction():
        await Article.filter(id__in=Subquery(failed.values("article_id"))).update(nudged_at=NEVER)
        return await queue_again(failed)


async def queue_again(rows: QuerySet[Translation]) -> int:
    """Queue translations with a full number of attempts, whoever is translating them. Returns how many."""
    return await rows.update(
        status=TranslationStatus.QUEUED,
        attempts=0,
        worker_deaths=0,
        reason=None,
        due_at=current_backends().clock.now(),
        claim=None,
    )
