"""The translation memory: an engine is not asked twice for the same segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.articles.models import TranslationMemory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Databases limit the values of one statement to about 32,000, and others need their turn in between.
BATCH_SIZE = 1000


async def recall_segments(engine: str, locale: str, segment_hashes: Sequence[str]) -> dict[str, str]:
    """Return the remembered text of every segment that has one, by hash."""
    remembered: dict[str, str] = {}
    for start in range(0, len(segment_hashes), BATCH_SIZE):
        batch = segment_hashes[start : start + BATCH_SIZE]
        rows = TranslationMemory.filter(engine=engine, locale=locale, segment_hash__in=batch)
        remembered.update(await rows.values_list("segment_hash", "text"))
    return remembered


async def remember_segments(engine: str, locale: str, learned: Mapping[str, str]) -> None:
    """Remember translated segments; a segment that is known keeps its text. Sorted, to avoid deadlocks."""
    rows = [
        TranslationMemory(engine=engine, locale=locale, segment_hash=segment_hash, text=text)
        for segment_hash, text in sorted(learned.items())
    ]
    for start in range(0, len(rows), BATCH_SIZE):
        await TranslationMemory.bulk_create(rows[start : start + BATCH_SIZE], ignore_conflicts=True)
