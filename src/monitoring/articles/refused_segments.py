"""Stores the segments that a translation left in English, each with the fault in the engine's output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from tortoise.expressions import Subquery

from monitoring.articles.models import RefusedSegment, Translation
from monitoring.articles.translation.judgement import Fault
from monitoring.articles.translation_memory import batches


async def store_refusals(translation_id: UUID, refused: Mapping[str, str]) -> None:
    """Replace the stored faults of a translation, within the caller's transaction.

    `refused` maps segment hashes to faults.
    """
    await RefusedSegment.filter(translation_id=translation_id).delete()
    for batch in batches(list(refused.items())):
        await RefusedSegment.bulk_create(
            [
                RefusedSegment(translation_id=translation_id, segment_hash=hash_, fault=str(fault))
                for hash_, fault in batch
            ]
        )


async def find_refusals(translation_id: UUID) -> dict[str, Fault]:
    """Return the faults of a translation, keyed by segment hash.

    The faults are from the last attempt in which the engine responded to all requests.
    """
    found = RefusedSegment.filter(translation_id=translation_id)
    return {row.segment_hash: Fault(row.fault) for row in await found}


async def forget_refusals(article_id: UUID, locale: str, segment_hashes: Sequence[str]) -> None:
    """Delete the stored faults of segments that a person has corrected, within the caller's transaction."""
    of_locale = Translation.filter(article_id=article_id, locale=locale)
    rows = RefusedSegment.filter(translation_id__in=Subquery(of_locale.values("id")))
    await rows.filter(segment_hash__in=segment_hashes).delete()


async def count_refusals(translation_id: UUID) -> int:
    """Return the number of segments that `find_refusals` returns."""
    return await RefusedSegment.filter(translation_id=translation_id).count()
