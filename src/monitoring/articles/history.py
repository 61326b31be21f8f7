"""The history of an article: events that neither the article's rows nor the audit log records."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from monitoring.articles.models import Article, HistoryEntry, HistoryEvent, Translation

# The number of newest revisions whose events are kept. Without this limit, the history of an article that its
# publisher saves every minute would keep growing.
KEPT_REVISIONS = 20


async def note_revision(article: Article, event: HistoryEvent, now: datetime) -> None:
    """Record a new revision or a publication, within the caller's transaction."""
    old = HistoryEntry.filter(article_id=article.id, revision__lte=article.revision - KEPT_REVISIONS)
    await old.delete()
    await HistoryEntry.create(
        article_id=article.id, happened_at=now, event=event.value, revision=article.revision
    )


async def note_translation(
    row: Translation, event: HistoryEvent, *, reason: str | None = None, now: datetime | None = None
) -> None:
    """Record that a translation was stored or has failed, within the caller's transaction."""
    await HistoryEntry.create(
        article_id=row.article_id,
        happened_at=now or datetime.now(UTC),
        event=event.value,
        revision=row.revision,
        locale=row.locale,
        reason=reason,
    )


async def list_history(article_id: UUID, limit: int) -> list[HistoryEntry]:
    """List up to `limit` history entries of an article, newest first."""
    return await HistoryEntry.filter(article_id=article_id).order_by("-id").limit(limit)


async def forget_history(article_id: UUID) -> None:
    """Delete an article's history within the caller's transaction. The history may quote the content."""
    await HistoryEntry.filter(article_id=article_id).delete()
