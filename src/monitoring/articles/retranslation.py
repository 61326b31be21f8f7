"""Retranslates finished translations after the engine or a setting has changed."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from uuid import UUID

from tortoise.queryset import QuerySet

from monitoring.articles.models import OPEN_STATUSES, Article, Translation, TranslationStatus
from monitoring.articles.queueing import NEVER, queue_again
from monitoring.articles.service import ARTICLES_A_PAGE
from monitoring.articles.translation.article import read_article
from monitoring.articles.translation.engines.metered import Cost
from monitoring.articles.translation.engines.protocol import Engine
from monitoring.articles.translation_memory import forget_article, recall_corrections, recall_segments
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction

FINISHED = (TranslationStatus.TRANSLATED, TranslationStatus.FAILED)


@dataclass(frozen=True, slots=True)
class TranslationFilter:
    """Selects finished translations, optionally only those of an article, a locale or an engine.

    `engine` is an engine name prefix, such as `deepl`. Translations made by version 0.1.0 record no engine.
    With `includes_waiting`, unfinished translations are selected too.
    """

    article_id: UUID | None = None
    locale: str | None = None
    engine: str | None = None
    includes_waiting: bool = False

    def rows(self) -> QuerySet[Translation]:
        """Return the selected translations: in `locale`, or else in the configured locales."""
        locales = [self.locale] if self.locale else current_backends().settings.locales
        statuses = (*FINISHED, *OPEN_STATUSES) if self.includes_waiting else FINISHED
        rows = Translation.filter(status__in=statuses, locale__in=locales)
        if self.article_id:
            rows = rows.filter(article_id=self.article_id)
        return rows.filter(engine__startswith=self.engine) if self.engine else rows


async def retranslate(chosen: TranslationFilter, *, forgets_memory: bool) -> int:
    """Requeue the chosen translations and reset their attempt counts. Returns their number.

    Pages stay on the site until new pages replace them. With `forgets_memory`, the engine translates all
    segments again, except those with a human correction. Otherwise it translates only segments that are not
    in the translation memory.
    """
    count = 0
    async for article_id in _find_articles(chosen):
        async with transaction():
            await Article.select_for_update().get(id=article_id)
            if forgets_memory:
                await forget_article(article_id, chosen.locale)
            count += await queue_again(chosen.rows().filter(article_id=article_id))
            await Article.filter(id=article_id).update(nudged_at=NEVER)
    return count


async def estimate(chosen: TranslationFilter, engine: Engine, *, forgets_memory: bool) -> dict[str, Cost]:
    """Return the estimated cost of translating the chosen translations again, keyed by locale.

    `engine` is not called. Unfinished translations are included.
    """
    chosen = replace(chosen, includes_waiting=True)
    costs: dict[str, Cost] = defaultdict(Cost)
    brand_names = current_backends().settings.brand_names
    async for article_id in _find_articles(chosen):
        article = await Article.get(id=article_id)
        source = await asyncio.to_thread(read_article, article.payload, brand_names)
        for row in await chosen.rows().filter(article_id=article_id):
            segment_hashes = list(source.hashes.values())
            known = await recall_corrections(row.locale, segment_hashes)
            if not forgets_memory:
                known |= await recall_segments(engine.name, row.locale, segment_hashes)
            costs[row.locale] += source.cost(engine.batch_limit, known)
    return dict(costs)


async def _find_articles(chosen: TranslationFilter) -> AsyncIterator[UUID]:
    last_id = UUID(int=0)
    while True:
        rows = chosen.rows().filter(article_id__gt=last_id).order_by("article_id").limit(ARTICLES_A_PAGE)
        found = await rows.only("article_id")
        if not found:
            return
        for article_id in dict.fromkeys(row.article_id for row in found):
            yield article_id
        last_id = found[-1].article_id
