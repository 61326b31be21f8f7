"""Takes articles back: out of the database at once, and out of the blog storage as soon as it can be had."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from monitoring.articles.memory import forget_segments
from monitoring.articles.models import Article, PublicationStatus
from monitoring.articles.rules import SENT_FIELD
from monitoring.articles.storage import page_transaction, remove_pages
from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.service import record
from monitoring.auth.models import Team
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.errors import StorageUnavailable
from monitoring.backends.outage import note_refusal
from monitoring.logs import log_article

if TYPE_CHECKING:
    from uuid import UUID

# A worker that stalled may store a translation after the files were removed. It has given up long before.
LATE_FILES = timedelta(minutes=15)

REMOVALS_A_SWEEP = 100

PUBLISHER = Actor("publisher")

_ACTIONS = {
    PublicationStatus.UNPUBLISHED: Action.ARTICLE_UNPUBLISHED,
    PublicationStatus.DELETED: Action.ARTICLE_DELETED,
}


async def withdraw_article(article_id: UUID, status: PublicationStatus, actor: Actor) -> Article | None:
    """Unpublish or delete an article. Returns None if there is none. Idempotent.

    Submissions that were made before now, as far as they tell, do not publish it again.
    """
    log_article(article_id)
    async with transaction():
        known = Article.exclude(status=PublicationStatus.DELETED)
        article = await known.select_for_update().get_or_none(id=article_id)
        if article is None:
            return None
        if article.status != status:
            now = datetime.now(UTC)
            await take_back(article, status, now, actor)
            article.source_time, article.source_time_field = now, SENT_FIELD
            await article.save()
    await try_to_remove_files(article.id)
    return article


async def take_back(
    article: Article, status: PublicationStatus, now: datetime, actor: Actor = PUBLISHER
) -> None:
    """Give a locked article this status, within the caller's transaction. The caller saves the article.

    Its translations lose their rows, and with them workers lose the right to store them. The memory keeps the
    segments of an unpublished article, and forgets what only a deleted one has.
    """
    article.status = status
    article.withdrawn_at = article.remove_at = now
    await article.translations.all().delete()
    if status is PublicationStatus.DELETED:
        article.update_from_dict({"title": None, "content_hash": "", "payload": {}})
        await forget_segments(article.id)
    for team in await Team.filter(name__in=current_backends().settings.article_teams):
        await record(team.id, actor, _ACTIONS[status], article.slug, article.id)


async def try_to_remove_files(article_id: UUID) -> None:
    """Remove an article's files now. If the blog storage is away, the sweep removes them later."""
    try:
        await remove_files(article_id)
    except StorageUnavailable as error:
        note_refusal("removal", error)


async def remove_files(article_id: UUID) -> None:
    """Remove the files of an article that is no longer published, and leave a tombstone. Idempotent.

    Looks again after `LATE_FILES`. Raises `StorageUnavailable`.
    """
    async with page_transaction():
        withdrawn = Article.exclude(status=PublicationStatus.PUBLISHED).filter(remove_at__not_isnull=True)
        article = await withdrawn.select_for_update().get_or_none(id=article_id)
        if article is None:
            return
        await remove_pages(article)
        looks_again_at = (article.withdrawn_at or article.updated_at) + LATE_FILES
        article.remove_at = looks_again_at if looks_again_at > datetime.now(UTC) else None
        await article.save(update_fields=["remove_at"])


async def sweep_removals() -> None:
    """Remove the files that are to be removed by now. Raises `StorageUnavailable` while it cannot be had."""
    due = Article.filter(remove_at__lte=datetime.now(UTC)).order_by("remove_at").limit(REMOVALS_A_SWEEP)
    for article in await due.only("id"):
        await remove_files(article.id)
