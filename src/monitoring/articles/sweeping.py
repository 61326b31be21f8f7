"""Finds work that no message asks for: lost messages, dead workers, engines that came back, new locales."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tortoise.expressions import RawSQL, Subquery

from monitoring.articles.models import Article, Translation, TranslationStatus
from monitoring.articles.rules import WORKER_STOPPED
from monitoring.articles.service import NEVER, queue_translations
from monitoring.articles.tasks import translate_article
from monitoring.articles.translating import is_due
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction

if TYPE_CHECKING:
    from uuid import UUID

MAX_ARTICLES_A_SWEEP = 200

# How long a message may take to be worked on before it is thought lost; a message too many costs one query.
NUDGE_INTERVAL = timedelta(seconds=30)

# Tortoise's F cannot compare columns of two tables.
_REVISIONS_BEHIND = RawSQL(
    "(SELECT revision FROM articles WHERE articles.id = translations.article_id) - translations.revision"
)


async def sweep() -> int:
    """Send a message for every article with due work that none was sent for lately. Returns how many."""
    if current_backends().settings.translator == "none":
        return 0
    now = datetime.now(UTC)
    idle = Translation.filter(is_due(now), article__nudged_at__lte=now - NUDGE_INTERVAL)
    article_ids = await idle.limit(MAX_ARTICLES_A_SWEEP).distinct().values_list("article_id", flat=True)
    await Article.filter(id__in=article_ids).update(nudged_at=now)
    for article_id in article_ids:
        await translate_article.send(str(article_id))
    return len(article_ids)


async def release_abandoned_claims() -> None:
    """Free what a killed process had claimed or had messages for. At the start of a process that is alone."""
    async with transaction():
        await Translation.filter(status=TranslationStatus.TRANSLATING).update(
            status=TranslationStatus.QUEUED, claim=None, due_at=datetime.now(UTC), reason=WORKER_STOPPED
        )
        await Article.filter(nudged_at__gt=datetime.now(UTC) - NUDGE_INTERVAL).update(nudged_at=NEVER)


async def queue_missing_locales() -> int:
    """Queue locales that articles lack because LOCALES has grown. At the start; returns how many articles."""
    locales = current_backends().settings.locales
    lacking: set[UUID] = set()
    for locale in locales:
        current = Translation.filter(locale=locale).annotate(lag=_REVISIONS_BEHIND).filter(lag=0)
        behind = Article.exclude(id__in=Subquery(current.values("article_id")))
        lacking.update(article.id for article in await behind.only("id"))
    for article_id in lacking:
        async with transaction():
            article = await Article.select_for_update().get(id=article_id)
            await queue_translations(article, locales, datetime.now(UTC))
            await Article.filter(id=article_id).update(nudged_at=NEVER)
    return len(lacking)
