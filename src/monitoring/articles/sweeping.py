"""Finds work that no message asks for: lost messages, dead workers, engines that came back, new locales."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tortoise.expressions import Subquery

from monitoring.articles.claims import is_due
from monitoring.articles.models import Article, Translation, TranslationStatus
from monitoring.articles.rules import WORKER_STOPPED
from monitoring.articles.service import NEVER, page_through_articles, queue_translations
from monitoring.articles.tasks import translate_article
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from uuid import UUID

MAX_ARTICLES_A_SWEEP = 200

# How long a message may take to be worked on before it is thought lost; a message too many costs one query.
NUDGE_INTERVAL = timedelta(seconds=30)


async def sweep() -> int:
    """Send a message for every article with due work that none was sent for lately. Returns how many.

    Sends nothing while the queue is away or has enough of them: workers slower than the sweep would
    never catch up.
    """
    if current_backends().settings.translator == "none" or await translate_article.has_enough_messages(
        MAX_ARTICLES_A_SWEEP
    ):
        return 0
    article_ids = await _claim_idle_articles(datetime.now(UTC))
    for article_id in article_ids:
        await translate_article.send(str(article_id))
    return len(article_ids)


async def _claim_idle_articles(now: datetime) -> list[UUID]:
    """Choose articles and note that messages go out: of sweeps at once, each gets articles of its own."""
    due = Translation.filter(is_due(now))
    idle = Article.filter(id__in=Subquery(due.values("article_id")), nudged_at__lte=now - NUDGE_INTERVAL)
    async with transaction():
        locked = idle.select_for_update(skip_locked=True).limit(MAX_ARTICLES_A_SWEEP)
        article_ids = [article.id for article in await locked.only("id")]
        await Article.filter(id__in=article_ids).update(nudged_at=now)
    return article_ids


async def release_abandoned_claims() -> None:
    """Free what a killed process had claimed or had messages for. At the start of a process that is alone."""
    async with transaction():
        await Translation.filter(status=TranslationStatus.TRANSLATING).update(
            status=TranslationStatus.QUEUED, claim=None, due_at=datetime.now(UTC), reason=WORKER_STOPPED
        )
        await Article.filter(nudged_at__gt=datetime.now(UTC) - NUDGE_INTERVAL).update(nudged_at=NEVER)


async def queue_missing_locales() -> int:
    """Queue locales that articles lack because LOCALES has grown, and return for how many articles.

    At the start, since it reads all articles' states. Of several processes at once, one queues an article.
    """
    locales, queued_count = current_backends().settings.locales, 0
    async for article_id in _find_articles_behind(locales):
        async with transaction():
            article = await Article.select_for_update().get(id=article_id)
            if await queue_translations(article, locales, datetime.now(UTC)):
                await Article.filter(id=article_id).update(nudged_at=NEVER)
                queued_count += 1
    return queued_count


async def _find_articles_behind(locales: Sequence[str]) -> AsyncIterator[UUID]:
    async for revisions in page_through_articles():
        rows = Translation.filter(article_id__in=list(revisions), locale__in=locales)
        found = await rows.values_list("article_id", "revision")
        current = Counter(article_id for article_id, revision in found if revision == revisions[article_id])
        for article_id in revisions:
            if current[article_id] < len(locales):
                yield article_id
