"""One translation, from the claim to the file."""

from __future__ import annotations

import asyncio
import logging
import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from monitoring.articles.claims import give_back, renewed_lease
from monitoring.articles.memory import recall_segments, remember_segments
from monitoring.articles.models import TranslationStatus
from monitoring.articles.rules import (
    STORAGE_AWAY,
    UNEXPECTED,
    give_up,
    retry_delay_seconds,
    shorten_reason,
)
from monitoring.articles.storage import find_versions, page_transaction, put_page
from monitoring.articles.translation.engines import (
    EngineError,
    PermanentEngineError,
    TransientEngineError,
)
from monitoring.backends.current import current_backends
from monitoring.backends.errors import DatabaseUnavailable, StorageUnavailable
from monitoring.metrics import TRANSLATIONS_FINISHED

if TYPE_CHECKING:
    from monitoring.articles.claims import Claim
    from monitoring.articles.translation.article import TranslatedArticle
    from monitoring.articles.translators import Translator

log = logging.getLogger(__name__)


async def fulfil_claim(claim: Claim, translator: Translator) -> float | None:
    """Translate and store, or note why not. Returns the seconds until the next attempt, if there is one.

    Stopped politely, it gives the attempt back.
    """
    try:
        async with renewed_lease(claim):
            translated = await _translate(claim, translator)
        await _store(claim, translated, translator)
    except asyncio.CancelledError:
        await give_back(claim.article.id, claim.claim_id)
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
        log.exception("The translation into %s failed", claim.locale)
        return await _try_later(claim, UNEXPECTED)
    return None


async def _translate(claim: Claim, translator: Translator) -> TranslatedArticle:
    payload, engine = claim.article.payload, translator.engine.name
    known = await recall_segments(engine, claim.locale, await translator.segment_hashes(payload))
    try:
        translated = await translator.translate(payload, claim.locale, known)
    except EngineError as error:  # the next attempt begins where this one ended
        await remember_segments(engine, claim.locale, error.learned)
        raise
    # Even if the claim is lost by now: the next revision will need most of it.
    await remember_segments(engine, claim.locale, translated.learned)
    return translated


async def _store(claim: Claim, translated: TranslatedArticle, translator: Translator) -> None:
    now = datetime.now(UTC)
    versions = await find_versions(claim.article.slug, claim.locale)
    async with page_transaction():
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
            "Segments left in English in %s, no answer of the engine being acceptable: %d",
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
