"""The translation memory, so that an engine does not translate the same segment twice."""

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

# Databases allow about 32,000 values per statement, and short statements let others run in between.
BATCH_SIZE = 1000


Item = TypeVar("Item")
Row = TypeVar("Row", MemoryUse, TranslationMemory)


async def recall_segments(engine: str, locale: str, segment_hashes: Sequence[str]) -> dict[str, str]:
    """Return the remembered texts by segment hash. Segments without one are omitted."""
    remembered: dict[str, str] = {}
    for batch in batches(segment_hashes):
        rows = TranslationMemory.filter(engine=engine, locale=locale, segment_hash__in=batch)
        remembered.update(await rows.values_list("segment_hash", "text"))
    return remembered


async def recall_corrections(locale: str, segment_hashes: Sequence[str]) -> dict[str, str]:
    """Return human corrections by segment hash."""
    return await recall_segments(PEOPLE, locale, segment_hashes)


async def forget_corrections(locale: str, segment_hashes: Sequence[str]) -> bool:
    """Delete corrections. Returns whether there were any."""
    corrections = TranslationMemory.filter(engine=PEOPLE, locale=locale, segment_hash__in=segment_hashes)
    return bool(await corrections.delete())


async def note_uses(article_id: UUID, segment_hashes: Sequence[str]) -> None:
    """Record that the article has these segments, unless it has been deleted in the meantime."""
    noted = await MemoryUse.filter(article_id=article_id).values_list("segment_hash", flat=True)
    missing = sorted(set(segment_hashes) - set(noted))

    def make_use(segment_hash: str) -> MemoryUse:
        return MemoryUse(article_id=article_id, segment_hash=segment_hash)

    await _insert(make_use, missing, article_id, ignore_conflicts=True)


async def remember_segments(article_id: UUID, engine: str, locale: str, learned: Mapping[str, str]) -> None:
    """Store translated segments of an article, unless it has been deleted in the meantime.

    They replace remembered texts, which were not acceptable.
    """

    def remember(item: tuple[str, str]) -> TranslationMemory:
        segment_hash, text = item
        return TranslationMemory(engine=engine, locale=locale, segment_hash=segment_hash, text=text)

    key = ("engine", "locale", "segment_hash")
    await _insert(remember, sorted(learned.items()), article_id, on_conflict=key, update_fields=("text",))


async def forget_segments(article: Article) -> None:
    """Delete segments that no other article uses, within the caller's transaction.

    Deletions are serialized: otherwise two articles that share a segment would each keep it for the other.
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
    """Return an article's segment hashes, which version 0.1.0 did not record."""
    brand_names = current_backends().settings.brand_names
    source = await asyncio.to_thread(read_article, article.payload, brand_names)
    return list(source.hashes.values())


async def forget_article(article_id: UUID, locale: str | None = None) -> None:
    """Delete an article's remembered texts in one locale or all, within the caller's transaction.

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
    """Insert an article's rows, unless it is deleted. `items` are sorted to avoid deadlocks."""
    for batch in batches(items):
        rows = list(map(make_row, batch))
        async with transaction():
            kept = Article.exclude(status=PublicationStatus.DELETED).select_for_update()
            if await kept.get_or_none(id=article_id).only("id"):
                await type(rows[0]).bulk_create(rows, **conflicts)
