"""The translation memory stores translated segments, so that an engine translates each segment only once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from tortoise.expressions import Subquery

from monitoring.articles.models import Article, MemoryUse, PublicationStatus, TranslationMemory
from monitoring.articles.queries import hold_forgetting
from monitoring.articles.translation.article import read_article
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction

# The engine name of human corrections.
PEOPLE = "people"

# Databases allow about 32,000 values per statement. Batches are smaller, so that other statements can run in
# between.
BATCH_SIZE = 1000


Item = TypeVar("Item")
Row = TypeVar("Row", MemoryUse, TranslationMemory)


async def recall_segments(engine: str, locale: str, segment_hashes: Sequence[str]) -> dict[str, str]:
    """Return an engine's stored translations into a locale, keyed by segment hash.

    Segments without a stored translation are omitted.
    """
    remembered: dict[str, str] = {}
    for batch in batches(segment_hashes):
        rows = TranslationMemory.filter(engine=engine, locale=locale, segment_hash__in=batch)
        remembered.update(await rows.values_list("segment_hash", "text"))
    return remembered


async def recall_corrections(locale: str, segment_hashes: Sequence[str]) -> dict[str, str]:
    """Return the human corrections in a locale, keyed by segment hash."""
    return await recall_segments(PEOPLE, locale, segment_hashes)


async def forget_corrections(locale: str, segment_hashes: Sequence[str]) -> bool:
    """Delete human corrections. Returns whether there were any."""
    corrections = TranslationMemory.filter(engine=PEOPLE, locale=locale, segment_hash__in=segment_hashes)
    return bool(await corrections.delete())


async def note_uses(article_id: UUID, segment_hashes: Sequence[str]) -> None:
    """Record that the article has these segments, unless the article has been deleted."""
    noted = await MemoryUse.filter(article_id=article_id).values_list("segment_hash", flat=True)
    missing = sorted(set(segment_hashes) - set(noted))

    def make_use(segment_hash: str) -> MemoryUse:
        return MemoryUse(article_id=article_id, segment_hash=segment_hash)

    await _insert(make_use, missing, article_id, ignore_conflicts=True)


async def remember_segments(article_id: UUID, engine: str, locale: str, learned: Mapping[str, str]) -> None:
    """Store translations of an article's segments, unless the article has been deleted.

    `learned` maps segment hashes to texts. These texts replace older texts of the same engine and locale,
    because an engine translates a segment again only if the stored text was not acceptable.
    """

    def remember(item: tuple[str, str]) -> TranslationMemory:
        segment_hash, text = item
        return TranslationMemory(engine=engine, locale=locale, segment_hash=segment_hash, text=text)

    key = ("engine", "locale", "segment_hash")
    await _insert(remember, sorted(learned.items()), article_id, on_conflict=key, update_fields=("text",))


async def forget_segments(article: Article) -> None:
    """Delete the segments that no other article uses, within the caller's transaction.

    Deletions run one at a time. If two articles with a common segment were deleted at the same time, each
    deletion would keep the segment for the other article.
    """
    await hold_forgetting(current_backends().database.context.db())
    uses = MemoryUse.filter(article_id=article.id)
    segment_hashes = await uses.values_list("segment_hash", flat=True) or await _read_hashes(article)
    await uses.delete()
    for batch in batches(sorted(segment_hashes)):
        still_used = MemoryUse.filter(segment_hash__in=batch).values("segment_hash")
        remembered = TranslationMemory.filter(segment_hash__in=batch)
        await remembered.exclude(segment_hash__in=Subquery(still_used)).delete()


async def _read_hashes(article: Article) -> list[str]:
    """Parse an article and return its segment hashes, because version 0.1.0 did not record them."""
    brand_names = current_backends().settings.brand_names
    source = await asyncio.to_thread(read_article, article.payload, brand_names)
    return list(source.hashes.values())


async def forget_article(article_id: UUID, locale: str | None = None) -> None:
    """Delete an article's stored translations in one locale or all, within the caller's transaction.

    Human corrections are kept.
    """
    segment_hashes = await MemoryUse.filter(article_id=article_id).values_list("segment_hash", flat=True)
    for batch in batches(sorted(segment_hashes)):
        remembered = TranslationMemory.filter(segment_hash__in=batch).exclude(engine=PEOPLE)
        await (remembered.filter(locale=locale) if locale else remembered).delete()


def batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Split items into batches, each small enough for one statement."""
    return (items[start : start + BATCH_SIZE] for start in range(0, len(items), BATCH_SIZE))


async def _insert(
    make_row: Callable[[Item], Row],
    items: Sequence[Item],
    article_id: UUID,
    **conflicts: Any,  # noqa: ANN401 - of two models
) -> None:
    """Insert a row for each item, unless the article is deleted. Callers sort `items` to avoid deadlocks."""
    for batch in batches(items):
        rows = list(map(make_row, batch))
        async with transaction():
            kept = Article.exclude(status=PublicationStatus.DELETED).select_for_update()
            if await kept.get_or_none(id=article_id).only("id"):
                await type(rows[0]).bulk_create(rows, **conflicts)
