"""A claim is a lease on a row: the right to translate one locale.

Only who still holds it can store, so that a translation is stored once, at the newest revision, however often
messages come and whenever a worker dies.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from tortoise.expressions import F, Q

from monitoring.articles.models import OPEN_STATUSES, Article, Translation, TranslationStatus
from monitoring.articles.rules import WORKER_STOPPED, give_up
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.errors import DatabaseUnavailable
from monitoring.metrics import TRANSLATIONS_FINISHED

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tortoise.queryset import QuerySet

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
        await give_back(article_id, claim_id)  # the commit may have gone through
        raise


async def _claim(article_id: UUID, claim_id: UUID) -> Claim | None:
    settings = current_backends().settings
    now = datetime.now(UTC)
    due = Translation.filter(is_due(now), article_id=article_id).order_by("id")
    claim, failed_locales = None, []
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
            failed_locales.append(row.locale)
        if row:
            row.status = TranslationStatus.TRANSLATING
            row.attempts += 1
            row.due_at = now + timedelta(seconds=settings.translation_lease_seconds)
            row.claim = claim_id
            await row.save()
            claim = Claim(claim_id, await Article.get(id=article_id), row.locale, row.attempts)
    for locale in failed_locales:
        TRANSLATIONS_FINISHED.labels(locale, TranslationStatus.FAILED).inc()
    return claim


async def give_back(article_id: UUID, claim_id: UUID) -> None:
    """Free what a stopped worker had claimed, as if it had never been begun."""
    await Translation.filter(article_id=article_id, claim=claim_id).update(
        status=TranslationStatus.QUEUED, attempts=F("attempts") - 1, due_at=datetime.now(UTC), claim=None
    )


@asynccontextmanager
async def renewed_lease(claim: Claim) -> AsyncIterator[None]:
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
