"""Makes a translation attempt, from the claim to the stored file."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta

from monitoring.articles.announcements import announce_translation
from monitoring.articles.claims import TranslationClaim, lease
from monitoring.articles.engine_runner import EngineRunner
from monitoring.articles.history import note_translation
from monitoring.articles.links.following import find_targets, note_links
from monitoring.articles.links.pages import PageLink, with_addresses, write_links
from monitoring.articles.models import Article, HistoryEvent, TranslationStatus
from monitoring.articles.own_translations import (
    PUBLISHER,
    find_own_translation,
    leave_for_engine,
    with_each_own_translation,
    with_own_translation,
    without_own_translations,
)
from monitoring.articles.refused_segments import store_refusals
from monitoring.articles.rules import (
    BUDGET_INTERVAL,
    STORAGE_AWAY,
    UNEXPECTED,
    give_up,
    retry_delay_seconds,
    shorten_reason,
)
from monitoring.articles.storage import find_versions, page_transaction, put_page
from monitoring.articles.translation.article import SourceArticle, TranslatedArticle
from monitoring.articles.translation.engines.protocol import (
    EngineError,
    PermanentEngineError,
    TransientEngineError,
)
from monitoring.articles.translation_memory import (
    note_uses,
    recall_corrections,
    recall_segments,
    remember_segments,
)
from monitoring.articles.usage import BudgetUsedUp
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.errors import DatabaseUnavailable, StorageUnavailable
from monitoring.backends.outage import note_refusal
from monitoring.metrics import SEGMENTS_LEFT_IN_ENGLISH, TRANSLATIONS_FINISHED

log = logging.getLogger(__name__)


class TooMuchInEnglishError(PermanentEngineError):
    """More of an article stayed in English than `TRANSLATION_MAX_ENGLISH_PERCENT` allows."""

    def __init__(self, message: str, refused: Mapping[str, str]) -> None:
        super().__init__(message)
        self.refused = refused


class SharedReading:
    """A parsed article, shared by all locales that a worker translates at the same time.

    A task holds the lock `one_locale` while it claims a locale and the article is parsed. If the article is
    small, the lock is then released, and several locales are translated in parallel. If the article is large,
    the lock is held until the locale is translated, because each parallel translation would use much memory.
    """

    def __init__(self, runner: EngineRunner) -> None:
        self.one_locale = asyncio.Lock()
        self.has_links = False
        self.heading_ids: Sequence[str] = ()
        self._runner = runner
        self._revision: int | None = None
        self._source: SourceArticle | None = None

    async def read(self, article: Article) -> SourceArticle:
        """Return the parsed revision of the article.

        Unless this revision is already parsed, parse it and record its segments.
        """
        if self._source is None or self._revision != article.revision:
            self._source = None  # free its memory before reading another one
            self._source = await self._read(article)
            self._revision = article.revision
        return self._source

    async def _read(self, article: Article) -> SourceArticle:
        source = await self._runner.read(without_own_translations(article.payload))
        await note_uses(article.id, list(source.hashes.values()))
        settings = current_backends().settings  # below, the texts are parsed again if a setting needs it
        if settings.site_page_url:
            links = await self._runner.find_links(*with_each_own_translation(article.payload))
            self.has_links = await note_links(article, links)
        if settings.blog_export == "hugo":
            self.heading_ids = await self._runner.find_heading_ids(article.payload)
        return source


async def attempt_translation(
    claim: TranslationClaim, runner: EngineRunner, reading: SharedReading, turn: AsyncExitStack
) -> float | None:
    """Translate and store a locale, or record the failure. Returns the seconds until a retry, or None.

    `turn` holds the lock of `reading`. The lock is released as soon as other locales may be translated in
    parallel. If the task is cancelled, the claim is released and the attempt does not count.
    """
    try:
        async with claim.renewed(lease()):
            source = await reading.read(claim.article)
            if source.is_small:
                await turn.aclose()
            translated = await _translate_or_take(claim, runner, source)
            links = await runner.find_links(translated.payload) if reading.has_links else []
        await _store(claim, translated, links, reading.heading_ids)
    except asyncio.CancelledError:
        await claim.give_back()
        raise
    except TooMuchInEnglishError as error:
        await _fail(claim, str(error), error.refused)
    except PermanentEngineError as error:
        await _fail(claim, shorten_reason(str(error)))
    except BudgetUsedUp as error:
        await claim.give_back(reason=str(error), due_at=current_backends().clock.now() + BUDGET_INTERVAL)
    except TransientEngineError as error:
        return await _try_later(claim, str(error), error.retry_after_seconds)
    except StorageUnavailable as error:
        note_refusal("task", error)
        return await _try_later(claim, STORAGE_AWAY)
    except DatabaseUnavailable:
        raise  # nothing can be stored, but the claim expires on its own
    except Exception:
        log.exception("The translation into %s failed", claim.row.locale)
        return await _try_later(claim, UNEXPECTED)
    return None


async def _translate_or_take(
    claim: TranslationClaim, runner: EngineRunner, source: SourceArticle
) -> TranslatedArticle:
    """Translate the article, except for the fields that the publisher has translated."""
    own = find_own_translation(claim.article.payload, claim.row.locale)
    if own is None:
        return await _translate(claim, runner, source)
    rest = await runner.read(leave_for_engine(source.payload, own))
    translated = await _translate(claim, runner, rest)
    return replace(
        translated,
        payload=with_own_translation(translated.payload, own),
        is_demonstration=translated.is_demonstration and translated.segment_count > 0,
        engine=PUBLISHER,
    )


async def _translate(
    claim: TranslationClaim, runner: EngineRunner, source: SourceArticle
) -> TranslatedArticle:
    article_id, locale, engine = claim.article.id, claim.row.locale, runner.engine.name
    segment_hashes = list(source.hashes.values())
    known = await recall_segments(engine, locale, segment_hashes)
    corrections = await recall_corrections(locale, segment_hashes)
    try:
        translated = await runner.translate(source, locale, article_id, known=known, corrections=corrections)
    except EngineError as error:  # the next attempt can use what was translated
        await remember_segments(article_id, engine, locale, error.learned)
        raise
    # Store the segments even if the claim is lost, because the next revision will need most of them.
    await remember_segments(article_id, engine, locale, translated.learned)
    _demand_enough(translated)
    return translated


def _demand_enough(translated: TranslatedArticle) -> None:
    """Raise `TooMuchInEnglishError` if too many segments stayed in English."""
    most = current_backends().settings.translation_max_english_percent
    refused, count = translated.refused_count, translated.segment_count
    if refused * 100 > most * count:
        faults = ", ".join(sorted(translated.faults))
        raise TooMuchInEnglishError(
            f"{refused} of {count} segments stayed in English, no answer being acceptable ({faults})",
            translated.refused,
        )


async def _store(
    claim: TranslationClaim,
    translated: TranslatedArticle,
    links: Sequence[PageLink],
    heading_ids: Sequence[str],
) -> None:
    now, locale = current_backends().clock.now(), claim.row.locale
    versions = await find_versions(claim.article.slug, locale)
    async with page_transaction():
        # The update checks the claim and locks the row, so that nobody claims or resets it before the file is
        # stored.
        is_ours = await claim.end(
            status=TranslationStatus.TRANSLATED,
            translated_at=now,
            reason=None,
            untranslated_segments=translated.refused_count,
            engine=translated.engine,
            is_demonstration=translated.is_demonstration,
        )
        if is_ours:
            targets = await find_targets(translated.payload, links, locale) if links else {}
            payload, links = with_addresses(translated.payload, links, targets)
            await put_page(
                claim.article,
                locale,
                payload,
                replacing=versions,
                engine=translated.engine,
                is_demonstration=translated.is_demonstration,
                untranslated_segments=translated.refused_count,
                corrected_segments=translated.corrected_count,
                translated_at=now,
                links=write_links(links),
                heading_ids=heading_ids if translated.engine != PUBLISHER else (),
            )
            await store_refusals(claim.row.id, translated.refused)
            await note_translation(claim.row, HistoryEvent.TRANSLATED, now=now)
            await announce_translation(claim.article, claim.row.id)
    if is_ours:
        TRANSLATIONS_FINISHED.labels(locale, TranslationStatus.TRANSLATED).inc()
        SEGMENTS_LEFT_IN_ENGLISH.labels(locale).inc(translated.refused_count)
    if is_ours and translated.refused_count:
        log.warning(
            "The translation into %s has segments in English, because no response of the engine was "
            "acceptable: %d",
            locale,
            translated.refused_count,
        )


async def _try_later(
    claim: TranslationClaim, reason: str, asked_seconds: float | None = None
) -> float | None:
    attempts = claim.row.attempts
    if attempts >= current_backends().settings.translation_max_attempts:
        await _fail(claim, give_up(reason, attempts))
        return None
    chance = random.random()  # noqa: S311 - jitter is no secret
    delay_seconds = retry_delay_seconds(attempts, chance, asked_seconds or 0)
    is_ours = await claim.end(
        status=TranslationStatus.QUEUED,
        reason=shorten_reason(reason),
        worker_deaths=0,
        due_at=current_backends().clock.now() + timedelta(seconds=delay_seconds),
    )
    return delay_seconds if is_ours else None


async def _fail(claim: TranslationClaim, reason: str, refused: Mapping[str, str] | None = None) -> None:
    async with transaction():
        is_ours = await claim.end(status=TranslationStatus.FAILED, reason=reason)
        if is_ours:
            if refused is not None:
                await store_refusals(claim.row.id, refused)
            await note_translation(claim.row, HistoryEvent.FAILED, reason=reason)
            await announce_translation(claim.article, claim.row.id)
    if is_ours:
        TRANSLATIONS_FINISHED.labels(claim.row.locale, TranslationStatus.FAILED).inc()
