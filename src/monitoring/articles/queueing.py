"""Queues translations and measures the backlog. The queue consists of the translations' database rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from tortoise.expressions import Subquery
from tortoise.functions import Count, Min
from tortoise.queryset import QuerySet

from monitoring.articles.intake import make_translations
from monitoring.articles.models import OPEN_STATUSES, Article, Translation, TranslationStatus
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.errors import QueueUnavailable
from monitoring.backends.inserts import insert_together
from monitoring.metrics import (
    OLDEST_UNTRANSLATED_SECONDS,
    QUEUE_MESSAGES,
    TRANSLATIONS,
    forget,
    record_age,
)

UNDONE_STATUSES = (*OPEN_STATUSES, TranslationStatus.FAILED)

# A value for `nudged_at` that makes the last message seem very old, so that the next sweep sends another
# message.
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


async def queue_translations(article: Article, locales: Sequence[str], now: datetime) -> bool:
    """Queue a translation into each of `locales` whose translation is missing or is of an older revision.

    Runs in the caller's transaction. Returns whether anything was queued. A worker that is translating an
    earlier revision loses its claim, so it cannot store its result. Callers pass all the configured
    locales, so a locale that is no longer configured is not queued.
    """
    rows = Translation.filter(article_id=article.id, locale__in=locales)
    known = {row.locale for row in await rows.only("locale")}
    missing = [locale for locale in locales if locale not in known]
    if missing:
        connection = current_backends().database.context.db()
        await insert_together(connection, *make_translations(article, missing, now))
    count_behind = await rows.exclude(revision=article.revision).update(
        revision=article.revision,
        status=TranslationStatus.QUEUED,
        attempts=0,
        worker_deaths=0,
        due_at=now,
        claim=None,
        reason=None,
        untranslated_segments=0,
        translated_at=None,
    )
    return bool(missing or count_behind)


async def retry_failed(article_id: UUID | None = None, locale: str | None = None) -> int:
    """Requeue failed translations, optionally only those of an article or a locale. Returns their number.

    Their attempt counts are reset. The next sweep of any process on this database sends messages for them.
    """
    failed = Translation.filter(status=TranslationStatus.FAILED)
    if article_id:
        failed = failed.filter(article_id=article_id)
    if locale:
        failed = failed.filter(locale=locale)
    async with transaction():
        await Article.filter(id__in=Subquery(failed.values("article_id"))).update(nudged_at=NEVER)
        return await queue_again(failed)


async def queue_again(rows: QuerySet[Translation]) -> int:
    """Requeue translations, reset their attempt counts, and revoke claims on them. Returns their number."""
    return await rows.update(
        status=TranslationStatus.QUEUED,
        attempts=0,
        worker_deaths=0,
        reason=None,
        due_at=current_backends().clock.now(),
        claim=None,
    )


async def measure_translations() -> None:
    """Update the metrics for unfinished translations and queued messages. Raises `DatabaseUnavailable`."""
    backends = current_backends()
    locales = backends.settings.locales
    rows = {(row["locale"], row["status"]): row for row in await _count_undone(locales)}
    now = backends.clock.now()
    for locale in locales:
        for status in UNDONE_STATUSES:
            count = rows.get((locale, status), {}).get("count", 0)
            TRANSLATIONS.labels(locale, status).set(count)
        since = [rows[locale, status]["since"] for status in OPEN_STATUSES if (locale, status) in rows]
        record_age(OLDEST_UNTRANSLATED_SECONDS.labels(locale), min(since, default=None), now)
    try:
        for queue_name, depth in (await backends.queue.depths()).items():
            QUEUE_MESSAGES.labels(queue_name).set(depth)
    except QueueUnavailable:
        forget(QUEUE_MESSAGES)


async def _count_undone(locales: Sequence[str]) -> list[dict[str, Any]]:
    """Count unfinished translations by locale and status.

    `since` is the earliest `updated_at` of their articles.
    """
    undone = Translation.filter(status__in=UNDONE_STATUSES, locale__in=locales)
    counted = undone.annotate(count=Count("id"), since=Min("article__updated_at"))
    return await counted.group_by("locale", "status").values("locale", "status", "count", "since")
