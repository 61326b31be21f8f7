"""Measures how many translations wait, and for how long, from the database and the queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tortoise.functions import Count, Min

from monitoring.articles.models import OPEN_STATUSES, Translation, TranslationStatus
from monitoring.backends.current import current_backends
from monitoring.backends.errors import QueueUnavailable
from monitoring.metrics import (
    OLDEST_UNTRANSLATED_SECONDS,
    QUEUE_MESSAGES,
    TRANSLATIONS,
    forget,
    record_age,
)

UNDONE_STATUSES = (*OPEN_STATUSES, TranslationStatus.FAILED)


async def measure_translations() -> None:
    """Count translations that wait in the configured locales, and messages. Raises `DatabaseUnavailable`."""
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
    """Count by locale and status. `since` is when the oldest revision among them arrived."""
    undone = Translation.filter(status__in=UNDONE_STATUSES, locale__in=locales)
    counted = undone.annotate(count=Count("id"), since=Min("article__updated_at"))
    return await counted.group_by("locale", "status").values("locale", "status", "count", "since")
