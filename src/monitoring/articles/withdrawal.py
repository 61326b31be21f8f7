"""Takes articles back: out of the database at once, and out of the blog storage as soon as it can be had."""

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

# A worker that stalled may store a translation after the files were removed. It has given up long before.
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
    """Unpublish or delete an article. Returns None if there is none to unpublish or delete. Idempotent.

    Raises Problem if `if_match` names another version (RFC 9110 §13.1.1).

    Submissions that give an earlier time than now do not publish it again.
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
    """Give a locked article this status, within the caller's transaction. The caller saves the article.

    Its translations lose their rows, and with them workers lose the right to store them. The memory keeps the
    segments of an unpublished article, and forgets what only a deleted one has.
    """
    article.status, article.withdrawn_at, article.updated_at = status, now, now
    mark_files(article, now)
    await article.translations.all().delete()
    if status is PublicationStatus.DELETED:
        await forget_segments(article)
        await ArticleLink.filter(article_id=article.id).delete()
        await forget_history(article.id)
        erase_content(article)
    log.info("The article is %s by %s", status, actor.name)
    await announce_withdrawal(article)
    for team in await find_readers():
        await record(team.id, actor, _ACTIONS[status], article.slug, article.id)


def erase_content(article: Article | TestArticle) -> None:
    """Take the content out of a row that stays."""
    article.update_from_dict({"title": None, "content_hash": "", "payload": {}, "tags": []})


def mark_files(article: Article, now: datetime) -> None:
    """Have the files of a withdrawn article removed, unless there never were any."""
    if article.slug != private_folder(article.identity):
        article.remove_at = now


async def mark_leftovers(
    article: Article, submission: Submission, taken_folders: Collection[str], now: datetime
) -> None:
    """Have the page removed that a publication of an unknown article left when it failed halfway.

    While the blog storage is away, a page stays unknown: no withdrawal is refused for it.
    """
    with suppress(StorageUnavailable):
        for folder in submission.folders():
            page = None if folder in taken_folders else await find_page(folder, SOURCE_LOCALE)
            if page and identify_article(page["delivery"]) == submission.identity:
                article.slug = folder
                mark_files(article, now)
                return


async def try_to_remove_files(article_id: UUID) -> None:
    """Remove an article's files now. If the blog storage is away, the sweep removes them later."""
    try:
        await remove_files(article_id)
    except StorageUnavailable as error:
        note_refusal("task", error)


async def remove_files(article_id: UUID) -> None:
    """Remove the files of an article that is no longer published, and leave a tombstone. Idempotent.

    Looks again after `LATE_FILES`. Raises `StorageUnavailable`.
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
    """Remove the files that are to be removed by now. Raises `StorageUnavailable` if some stay."""
    due = Article.filter(_has_files_to_remove()).order_by("remove_at").limit(REMOVALS_A_SWEEP)
    refusal = None
    for article in await due.only("id"):
        try:
            await remove_files(article.id)
        except StorageUnavailable as error:  # perhaps of one file: go on with the others
            refusal = error
    if refusal:
        raise refusal


async def withdraw_again() -> None:
    """Take back what processes of 0.1.0, which know no withdrawals, have queued since. Once, at the start."""
    withdrawn = Article.exclude(status=PublicationStatus.PUBLISHED).values("id")
    for row in await Translation.filter(article_id__in=Subquery(withdrawn)).only("article_id"):
        async with transaction():
            article = await Article.select_for_update().get(id=row.article_id)
            if article.status != PublicationStatus.PUBLISHED:
                await article.translations.all().delete()
                mark_files(article, current_backends().clock.now())
                await article.save(update_fields=["remove_at"])


def _has_files_to_remove() -> Q:
    """Match articles whose files are due to be removed, or were put off too far by a clock that was ahead."""
    now = current_backends().clock.now()
    return Q(remove_at__lte=now) | Q(remove_at__gt=now + LATE_FILES + TOLERANCE)
