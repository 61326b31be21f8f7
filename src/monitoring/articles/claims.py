"""Claims on translations. A claim gives one worker the right to translate an article into one locale.

Only the worker that holds the claim can store the translation. As a result, each translation is stored only
once and is always of the newest revision, even if messages are redelivered or a worker dies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar
from uuid import UUID

from tortoise.expressions import F, Q
from tortoise.queryset import QuerySet

from monitoring.articles.announcements import announce_translation
from monitoring.articles.history import note_translation
from monitoring.articles.models import OPEN_STATUSES, Article, HistoryEvent, Translation, TranslationStatus
from monitoring.articles.rules import LONGEST_PAUSE, MAX_WORKER_DEATHS, WORKER_STOPPED, give_up
from monitoring.backends import leases
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.metrics import TRANSLATIONS_FINISHED


@dataclass(frozen=True, slots=True)
class TranslationClaim(leases.Claim[Translation]):
    """The right to translate an article into one locale, with the article's state when it was claimed."""

    when_given_back: ClassVar[Mapping[str, object]] = {"status": TranslationStatus.QUEUED}

    article: Article


def is_due(now: datetime) -> Q:
    """Return a filter for the translations that a worker may claim.

    These translations are due, have neither succeeded nor failed, and are in a configured locale.
    """
    locales = current_backends().settings.locales
    return _has_come(now) & Q(status__in=OPEN_STATUSES, locale__in=locales)


def lease() -> timedelta:
    """Return how long a claim lasts without renewal."""
    return timedelta(seconds=current_backends().settings.translation_lease_seconds)


async def claim_translation(article_id: UUID) -> TranslationClaim | None:
    """Claim a due translation of the article and count the attempt. Return None if no translation is due.

    A due translation without remaining attempts is marked as failed. This usually happens because the worker
    that made the last attempt was killed. If too many workers have died while translating one locale, all due
    locales of the article fail, because they are translated from the same text.
    """
    async with TranslationClaim.beginning(Translation.filter(article_id=article_id)) as claim_id:
        return await _claim(article_id, claim_id)


async def needs_to_be_alone(article_id: UUID) -> bool:
    """Return whether the article must be translated alone, because a worker died while translating it.

    That worker may have been translating other articles at the same time. Translating this article alone
    shows whether it is the cause.
    """
    open_rows = Translation.filter(article_id=article_id, status__in=OPEN_STATUSES)
    died = Q(worker_deaths__gt=0) | (
        Q(status=TranslationStatus.TRANSLATING) & _has_come(current_backends().clock.now())
    )
    return await open_rows.filter(died).exists()


async def note_worker_deaths(rows: QuerySet[Translation], now: datetime) -> None:
    """Requeue each translation in `rows` whose worker died, and increment its count of worker deaths.

    Runs in the caller's transaction. The caller ensures that no live worker holds a claim on any of `rows`.
    """
    died = rows.filter(status=TranslationStatus.TRANSLATING).select_for_update(skip_locked=True).only("id")
    if ids := [row.id for row in await died]:
        await Translation.filter(id__in=ids).update(
            status=TranslationStatus.QUEUED,
            claim=None,
            due_at=now,
            reason=WORKER_STOPPED,
            worker_deaths=F("worker_deaths") + 1,
        )


def _has_come(now: datetime) -> Q:
    return leases.is_due(now, max(LONGEST_PAUSE, lease()))


async def _claim(article_id: UUID, claim_id: UUID) -> TranslationClaim | None:
    max_attempts = current_backends().settings.translation_max_attempts
    now = current_backends().clock.now()
    due = Translation.filter(is_due(now), article_id=article_id)
    first_due = due.order_by("-worker_deaths", "id").select_for_update(skip_locked=True)
    claim, failed_locales, is_deadly = None, [], False
    async with transaction():
        await note_worker_deaths(due, now)
        while row := await first_due.first():
            is_deadly |= row.worker_deaths >= MAX_WORKER_DEATHS
            if row.attempts < max_attempts and not is_deadly:
                break
            row.status = TranslationStatus.FAILED
            if is_deadly:
                row.reason = give_up(WORKER_STOPPED, MAX_WORKER_DEATHS)
            else:
                row.reason = give_up(row.reason or WORKER_STOPPED, row.attempts)
            row.claim = None
            await row.save()
            await note_translation(row, HistoryEvent.FAILED, reason=row.reason)
            await announce_translation(await Article.get(id=article_id), row.id)
            failed_locales.append(row.locale)
        if row:
            row.status = TranslationStatus.TRANSLATING
            await leases.begin_attempt(row, claim_id, now + lease())
            claim = TranslationClaim(claim_id, row, await Article.get(id=article_id))
    for locale in failed_locales:
        TRANSLATIONS_FINISHED.labels(locale, TranslationStatus.FAILED).inc()
    return claim
