"""Claims on translations: the right to translate one locale of an article.

Only the worker that holds the claim can store its result. So each translation is stored once, at the newest
revision, however many messages come and whenever a worker dies.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, ClassVar

from tortoise.expressions import Q

from monitoring.articles.announcements import announce_translation
from monitoring.articles.history import note_translation
from monitoring.articles.models import OPEN_STATUSES, Article, Happening, Translation, TranslationStatus
from monitoring.articles.rules import WORKER_STOPPED, give_up
from monitoring.backends import leases
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.metrics import TRANSLATIONS_FINISHED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class TranslationClaim(leases.Claim[Translation]):
    """The right to translate one locale of an article as it was when claimed."""

    when_given_back: ClassVar[Mapping[str, object]] = {"status": TranslationStatus.QUEUED}

    article: Article


def is_due(now: datetime) -> Q:
    """Match translations that a worker may claim: due, open, and into a configured locale."""
    locales = current_backends().settings.locales
    return leases.is_due(now) & Q(status__in=OPEN_STATUSES, locale__in=locales)


def lease() -> timedelta:
    """Return how long a claim lasts unless the worker renews it."""
    return timedelta(seconds=current_backends().settings.translation_lease_seconds)


async def claim_translation(article_id: UUID) -> TranslationClaim | None:
    """Claim a due translation of the article and count the attempt. Returns None if nothing is due.

    A translation that has used up its attempts, because each time its worker was killed, ends as failed here.
    """
    async with TranslationClaim.beginning(Translation.filter(article_id=article_id)) as claim_id:
        return await _claim(article_id, claim_id)


async def _claim(article_id: UUID, claim_id: UUID) -> TranslationClaim | None:
    max_attempts = current_backends().settings.translation_max_attempts
    now = datetime.now(UTC)
    due = Translation.filter(is_due(now), article_id=article_id).order_by("id")
    claim, failed_locales = None, []
    async with transaction():
        while row := await due.select_for_update(skip_locked=True).first():
            if row.status == TranslationStatus.TRANSLATING:
                row.reason = WORKER_STOPPED
            if row.attempts < max_attempts:
                break
            row.status = TranslationStatus.FAILED
            row.reason = give_up(row.reason or WORKER_STOPPED, row.attempts)
            row.claim = None
            await row.save()
            await note_translation(row, Happening.FAILED, reason=row.reason)
            await announce_translation(await Article.get(id=article_id), row.id)
            failed_locales.append(row.locale)
        if row:
            row.status = TranslationStatus.TRANSLATING
            await leases.begin_attempt(row, claim_id, now + lease())
            claim = TranslationClaim(claim_id, row, await Article.get(id=article_id))
    for locale in failed_locales:
        TRANSLATIONS_FINISHED.labels(locale, TranslationStatus.FAILED).inc()
    return claim
