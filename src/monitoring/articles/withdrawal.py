"""Withdraws articles: from the database at once, and from the blog storage as soon as it is available."""

from __future__ import annotations

import logging
from collections.abc import Collection
from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID

from tortoise.expressions import Q, Subquery

from monitoring.articles.announcements import announce_withdrawal, find_readers
from monitoring.articles.history import forget_history
from monitoring.articles.models import Article, ArticleLink, PublicationStatus, TestArticle, Translation
from monitoring.articles.rules import SENT_FIELD
from monitoring.articles.storage import SOURCE_LOCALE, find_page, page_transaction, remove_pages
from monitoring.articles.submissions import Submission, identify_article, private_folder
from monitoring.articles.translation_memory import forget_segments
from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.service import record
from monitoring.backends.clock import TOLERANCE
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.errors import StorageUnavailable
from monitoring.backends.outage import note_refusal
from monitoring.contract.entity_tags import is_current, version_of
from monitoring.contract.problems import Problem
from monitoring.logs import log_article

# A stalled worker may still store a translation up to this long after the withdrawal, when the article's
# files have already been removed.
LATE_FILES = timedelta(minutes=15)

REMOVALS_A_SWEEP = 100

PUBLISHER = Actor("publisher")

log = logging.getLogger(__name__)

_ACTIONS = {
    PublicationStatus.UNPUBLISHED: Action.ARTICLE_UNPUBLISHED,
    PublicationStatus.DELETED: Action.ARTICLE_DELETED,
}


async def withdraw_article(
    article_id: UUID, status: PublicationStatus, actor: Actor, if_match: str | None = None
) -> Article | None:
    """Unpublish or delete an article. Returns None if there is no such article. Idempotent.

    Raises Problem if `if_match` names another version (RFC 9110 §13.1.1). A submission with a time before
    this withdrawal does not publish the article again.
    """
    log_article(article_id)
    async with transaction():
        article = await Article.select_for_update().get_or_none(id=article_id)
        if article is None or (article.status == PublicationStatus.DELETED != status):
            return None
        if not is_current(if_match, version_of(article.updated_at)):
            raise Problem("article_changed")
        if article.status != status:
            now = current_backends().clock.now()
            await take_back(article, status, now, actor)
            article.source_time, article.source_time_field = now, SENT_FIELD
            await article.save()
    await try_to_remove_files(article.id)
    return article


async def take_back(
    article: Article, status: PublicationStatus, now: datetime, actor: Actor = PUBLISHER
) -> None:
    """Withdraw a locked article within the caller's transaction. The caller saves the article.

    Its translation rows are deleted, so that workers can no longer store translations. If the article is
    deleted, segments that no other article has are also deleted from the translation memory.
    """
    article.status, article.withdrawn_at, article.updated_at = status, now, now
    mark_files(article, now)
    await article.translations.all().delete()
    if status is PublicationStatus.DELETED:
        await forget_segments(article)
        await ArticleLink.filter(article_id=article.id).delete()
        await forget_history(article.id)
        erase_content(article)
    log.info("The article was %s by %s", status, actor.name)
    await announce_withdrawal(article)
    for team in await find_readers():
        await record(team.id, actor, _ACTIONS[status], article.slug, article.id)


def erase_content(article: Article | TestArticle) -> None:
    """Erase the content of an article whose row is kept."""
    article.update_from_dict({"title": None, "content_hash": "", "payload": {}, "tags": []})


def mark_files(article: Article, now: datetime) -> None:
    """Schedule the removal of a withdrawn article's files, unless the article never had files."""
    if article.slug != private_folder(article.identity):
        article.remove_at = now


async def mark_leftovers(
    article: Article, submission: Submission, taken_folders: Collection[str], now: datetime
) -> None:
    """Schedule the removal of the page left behind by a failed publication of a new article.

    If the blog storage is unavailable, the page is not found, and the withdrawal still succeeds.
    """
    with suppress(StorageUnavailable):
        for folder in submission.folders():
            page = None if folder in taken_folders else await find_page(folder, SOURCE_LOCALE)
            if page and identify_article(page["delivery"]) == submission.identity:
                article.slug = folder
                mark_files(article, now)
                return


async def try_to_remove_files(article_id: UUID) -> None:
    """Remove an article's files. If the blog storage is unavailable, the sweep removes them later."""
    try:
        await remove_files(article_id)
    except StorageUnavailable as error:
        note_refusal("task", error)


async def remove_files(article_id: UUID) -> None:
    """Replace a withdrawn article's files with a tombstone. Idempotent.

    Schedules a second removal after `LATE_FILES`. Raises `StorageUnavailable`.
    """
    async with page_transaction():
        due = Article.filter(_has_files_to_remove()).select_for_update(skip_locked=True)
        article = await due.get_or_none(id=article_id)
        if article is None or article.status == PublicationStatus.PUBLISHED:
            return
        await remove_pages(article)
        now = current_backends().clock.now()
        looks_again_at = (article.withdrawn_at or now) + LATE_FILES
        is_ahead = now < looks_again_at <= now + LATE_FILES + TOLERANCE
        article.remove_at = looks_again_at if is_ahead else None
        await article.save(update_fields=["remove_at"])


async def sweep_removals() -> None:
    """Remove all files that are due for removal. Raises `StorageUnavailable` if any removal fails."""
    due = Article.filter(_has_files_to_remove()).order_by("remove_at").limit(REMOVALS_A_SWEEP)
    refusal = None
    for article in await due.only("id"):
        try:
            await remove_files(article.id)
        except StorageUnavailable as error:  # perhaps only for one file: continue with the others
            refusal = error
    if refusal:
        raise refusal


async def withdraw_again() -> None:
    """Delete translations that version 0.1.0 queued for withdrawn articles. Called once, at process start."""
    withdrawn = Article.exclude(status=PublicationStatus.PUBLISHED).values("id")
    for row in await Translation.filter(article_id__in=Subquery(withdrawn)).only("article_id"):
        async with transaction():
            article = await Article.select_for_update().get(id=row.article_id)
            if article.status != PublicationStatus.PUBLISHED:
                await article.translations.all().delete()
                mark_files(article, current_backends().clock.now())
                await article.save(update_fields=["remove_at"])


def _has_files_to_remove() -> Q:
    """Return a filter for articles whose files are due for removal.

    A removal that is scheduled too far in the future, because a clock was fast, is due, too.
    """
    now = current_backends().clock.now()
    return Q(remove_at__lte=now) | Q(remove_at__gt=now + LATE_FILES + TOLERANCE)
