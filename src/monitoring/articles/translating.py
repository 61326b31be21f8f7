"""One translation, from the claim to the file.

A claim is a lease on a row. Only who still holds it can store, so that a translation is stored once, at the
newest revision, however often messages come and whenever a worker dies.
"""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from tortoise.expressions import F, Q

from monitoring.articles.memory import recall_segments, remember_segments
from monitoring.articles.models import OPEN_STATUSES, Article, Translation, TranslationStatus
from monitoring.articles.rules import (
    STORAGE_AWAY,
    UNEXPECTED,
    WORKER_STOPPED,
    give_up,
    retry_delay_seconds,
    shorten_reason,
)
from monitoring.articles.storage import find_versions, put_page
from monitoring.articles.translation.engines import PermanentEngineError, TransientEngineError
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.errors import DatabaseUnavailable, StorageUnavailable
from monitoring.metrics import TRANSLATIONS_FINISHED

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tortoise.queryset import QuerySet

    from monitoring.articles.translation.article import TranslatedArticle
    from monitoring.articles.translators import Translator

HEARTBEATS_A_LEASE = 3

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to translate one locale of an article as it was when claimed."""

    claim_id: UUID
    article: Article
    locale: str
    attempts: int

    def row(self) -> QuerySet[Translation]:
        """Find the row, as long as it is ours."""
        return Translation.filter(article_id=self.article.id, locale=self.locale, claim=self.claim_id)


def is_due(now: datetime) -> Q:
    """Match what a worker may take: configured locales that wait, or whose worker let the lease run out."""
    return Q(status__in=OPEN_STATUSES, due_at__lte=now, locale__in=current_backends().settings.locales)


async def claim_translation(article_id: UUID) -> Claim | None:
    """Claim a due translation of the article, and count the attempt; None when nothing is due.

    What used up its attempts without an answer, its worker killed each time, ends as failed here.
    """
    claim_id = uuid4()
    try:
        return await _claim(article_id, claim_id)
    except asyncio.CancelledError:
        await _give_back(article_id, claim_id)  # the commit may have gone through
        raise


async def _claim(article_id: UUID, claim_id: UUID) -> Claim | None:
    settings = current_backends().settings
    now = datetime.now(UTC)
    due = Translation.filter(is_due(now), article_id=article_id).order_by("id")
    async with transaction():
        while row := await due.select_for_update(skip_locked=True).first():
            if row.status == TranslationStatus.TRANSLATING:
                row.reason = WORKER_STOPPED
            if row.attempts < settings.translation_max_attempts:
                break
            row.status = TranslationStatus.FAILED
            row.reason = give_up(row.reason or WORKER_STOPPED, row.attempts)
            row.claim = None
            await row.save()
            TRANSLATIONS_FINISHED.labels(row.locale, row.status).inc()
        if row is None:
            return None
        row.status = TranslationStatus.TRANSLATING
        row.attempts += 1
        row.due_at = now + timedelta(seconds=settings.translation_lease_seconds)
        row.claim = claim_id
        await row.save()
        return Claim(claim_id, await Article.get(id=article_id), row.locale, row.attempts)


async def fulfil_claim(claim: Claim, translator: Translator) -> float | None:
    """Translate and store, or note why not. Returns the seconds until the next attempt, if there is one.

    Stopped politely, it gives the attempt back.
    """
    try:
        async with _renewed_lease(claim):
            translated = await _translate(claim, translator)
        await _store(claim, translated, translator)
    except asyncio.CancelledError:
        await _give_back(claim.article.id, claim.claim_id)
        raise
    except PermanentEngineError as error:
        await _fail(claim, shorten_reason(str(error)))
    except TransientEngineError as error:
        return await _try_later(claim, str(error), error.retry_after_seconds)
    except StorageUnavailable as error:
        log.warning("%s: %s", STORAGE_AWAY, error)
        return await _try_later(claim, STORAGE_AWAY)
    except DatabaseUnavailable:
        raise  # nothing can be noted; the lease runs out
    except Exception:
        log.exception("Article %s could not be translated into %s", claim.article.id, claim.locale)
        return await _try_later(claim, UNEXPECTED)
    return None


async def _give_back(article_id: UUID, claim_id: UUID) -> None:
    """Free what a stopped worker had claimed, as if it had never been begun."""
    await Translation.filter(article_id=article_id, claim=claim_id).update(
        status=TranslationStatus.QUEUED, attempts=F("attempts") - 1, due_at=datetime.now(UTC), claim=None
    )


async def _translate(claim: Claim, translator: Translator) -> TranslatedArticle:
    payload, engine = claim.article.payload, translator.engine.name
    known = await recall_segments(engine, claim.locale, await translator.segment_hashes(payload))
    translated = await translator.translate(payload, claim.locale, known)
    # Even if the claim is lost by now: the next revision will need most of it.
    await remember_segments(engine, claim.locale, translated.learned)
    return translated


async def _store(claim: Claim, translated: TranslatedArticle, translator: Translator) -> None:
    now = datetime.now(UTC)
    versions = await find_versions(claim.article.slug, claim.locale)
    async with transaction():
        # The update is check and lock: nobody can claim or reset the row until the file is there.
        is_ours = await claim.row().update(
            status=TranslationStatus.TRANSLATED, translated_at=now, reason=None, claim=None
        )
        if is_ours:
            await put_page(
                claim.article,
                claim.locale,
                translated.payload,
                replacing=versions,
                engine=translator.engine.name,
                is_demonstration=translated.is_demonstration,
                untranslated_segments=translated.refused_count,
                translated_at=now,
            )
    if is_ours:
        TRANSLATIONS_FINISHED.labels(claim.locale, TranslationStatus.TRANSLATED).inc()
    if is_ours and translated.refused_count:
        log.warning(
            "Article %s in %s: segments left in English, no answer of the engine being acceptable: %d",
            claim.article.id,
            claim.locale,
            translated.refused_count,
        )


async def _try_later(claim: Claim, reason: str, asked_seconds: float | None = None) -> float | None:
    if claim.attempts >= current_backends().settings.translation_max_attempts:
        await _fail(claim, give_up(reason, claim.attempts))
        return None
    chance = random.random()  # noqa: S311 - jitter is no secret
    delay_seconds = retry_delay_seconds(claim.attempts, chance, asked_seconds or 0)
    is_ours = await claim.row().update(
        status=TranslationStatus.QUEUED,
        reason=shorten_reason(reason),
        due_at=datetime.now(UTC) + timedelta(seconds=delay_seconds),
        claim=None,
    )
    return delay_seconds if is_ours else None


async def _fail(claim: Claim, reason: str) -> None:
    if await claim.row().update(status=TranslationStatus.FAILED, reason=reason, claim=None):
        TRANSLATIONS_FINISHED.labels(claim.locale, TranslationStatus.FAILED).inc()


@asynccontextmanager
async def _renewed_lease(claim: Claim) -> AsyncIterator[None]:
    """Keep the lease while a slow engine works."""
    renewing = asyncio.create_task(_renew_lease(claim))
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.wait([renewing])


async def _renew_lease(claim: Claim) -> None:
    lease_seconds = current_backends().settings.translation_lease_seconds
    while True:
        await asyncio.sleep(lease_seconds / HEARTBEATS_A_LEASE)
        try:
            await claim.row().update(due_at=datetime.now(UTC) + timedelta(seconds=lease_seconds))
        except DatabaseUnavailable as error:
            log.warning("A lease could not be renewed: %s", error)
