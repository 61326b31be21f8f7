"""Sends a message for each due translation that has no recent message.

A recent message is missing if a message was lost, a worker died, or a locale was added.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from uuid import UUID

from tortoise.expressions import Q, Subquery
from tortoise.queryset import QuerySet

from monitoring.articles.claims import is_due, note_worker_deaths
from monitoring.articles.links.addresses import key_of_article
from monitoring.articles.models import Article, PublicationStatus, Translation
from monitoring.articles.queueing import NEVER, queue_translations
from monitoring.articles.service import page_through_articles
from monitoring.articles.submissions import read_tags
from monitoring.articles.tasks import translate_article, translate_test_article
from monitoring.articles.test_articles import drop_old_test_articles, find_forgotten_test_articles
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.leases import NUDGE_INTERVAL, is_idle, sweep_idle

MAX_ARTICLES_A_SWEEP = 200


async def sweep() -> int:
    """Send a message for each article with a due translation but no recent message. Returns the count."""
    if current_backends().settings.translator == "none":
        return 0
    return await sweep_idle(translate_article, _find_idle_articles, MAX_ARTICLES_A_SWEEP)


async def _find_idle_articles(now: datetime) -> QuerySet[Article]:
    due = Translation.filter(is_due(now))
    return Article.filter(is_idle(now), id__in=Subquery(due.values("article_id")))


async def sweep_test_articles(now: datetime) -> None:
    """Delete expired test articles, and send another message for those that have waited too long."""
    await drop_old_test_articles(now)
    for article_id in await find_forgotten_test_articles(now):
        await translate_test_article.send(str(article_id))


async def release_abandoned_claims() -> None:
    """Release the claims of a killed process, and make the next sweep send messages for its articles.

    Call this only at process start, and only if no other process uses the database.
    """
    now = current_backends().clock.now()
    async with transaction():
        await note_worker_deaths(Translation.all(), now)
        await Article.filter(nudged_at__gt=now - NUDGE_INTERVAL).update(nudged_at=NEVER)


async def queue_missing_locales() -> int:
    """Queue translations into locales that were added to LOCALES. Returns the number of articles queued.

    Called once, at process start, because it reads the state of every article. If several processes start at
    once, each article is queued by only one of them.
    """
    backends, queued_count = current_backends(), 0
    locales = backends.settings.locales
    async for article_id in _find_articles_behind(locales):
        async with transaction():
            article = await Article.select_for_update().get(id=article_id)
            is_published = article.status == PublicationStatus.PUBLISHED  # it may have changed
            if is_published and await queue_translations(article, locales, backends.clock.now()):
                await Article.filter(id=article_id).update(nudged_at=NEVER)
                queued_count += 1
    return queued_count


async def complete_older_articles() -> None:
    """Fill in tags and addresses of articles that earlier releases stored. Called once, at process start."""
    async for revisions in page_through_articles():
        of_page = Article.filter(id__in=list(revisions))
        older = of_page.filter(Q(tags__isnull=True) | Q(address__isnull=True))
        for article_id in await older.values_list("id", flat=True):
            article = await Article.get(id=article_id).only("payload")
            if article.payload:
                # Update only columns that are still empty, because a submission may have filled them after
                # the query.
                own = of_page.filter(id=article_id)
                await own.filter(tags__isnull=True).update(tags=read_tags(article.payload))
                await own.filter(address__isnull=True).update(address=key_of_article(article.payload))


async def _find_articles_behind(locales: Sequence[str]) -> AsyncIterator[UUID]:
    async for revisions in page_through_articles():
        rows = Translation.filter(article_id__in=list(revisions), locale__in=locales)
        found = await rows.values_list("article_id", "revision")
        current = Counter(article_id for article_id, revision in found if revision == revisions[article_id])
        for article_id in revisions:
            if current[article_id] < len(locales):
                yield article_id
