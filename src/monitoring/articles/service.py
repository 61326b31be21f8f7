"""Receives and reads articles. Every function is one transaction or one statement."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from tortoise.backends.base.client import BaseDBAsyncClient
from tortoise.exceptions import IntegrityError
from tortoise.expressions import Q, Subquery

from monitoring.articles.announcements import find_readers
from monitoring.articles.history import note_revision
from monitoring.articles.intake import (
    choose_folder,
    find_taken_folders,
    insert_article,
    make_article,
)
from monitoring.articles.links.addresses import key_of_article
from monitoring.articles.models import Article, HistoryEvent, PublicationStatus, Translation
from monitoring.articles.queueing import queue_translations
from monitoring.articles.rules import (
    KINDS,
    WITHDRAWALS,
    SubmissionKind,
    compare_with_kept,
    latest_source_time,
)
from monitoring.articles.storage import (
    SOURCE_LOCALE,
    find_versions,
    page_transaction,
    put_page,
    remove_pages,
    remove_tombstone,
)
from monitoring.articles.submissions import (
    Submission,
    private_folder,
    read_submission,
    read_tags,
    read_title,
)
from monitoring.articles.withdrawal import (
    erase_content,
    mark_files,
    mark_leftovers,
    take_back,
    try_to_remove_files,
)
from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.service import record
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.errors import TransactionConflict
from monitoring.backends.inserts import insert_together
from monitoring.backends.pages import Page, read_page
from monitoring.logs import log_article

# A single statement over all articles would eventually exceed the statement timeout.
ARTICLES_A_PAGE = 200

LISTED_FIELDS = ("id", "slug", "title", "status", "revision", "tags", "received_at", "updated_at")

MAX_CONFLICTS = 3
MAX_PAUSE_SECONDS = 0.1

Result = TypeVar("Result")

log = logging.getLogger(__name__)


class NothingToPublish(Exception):  # noqa: N818 - what the publisher sent
    """Neither the submission nor the stored article has a title or text."""


class UnreadText(Exception):  # noqa: N818 - what the publisher sent
    """A new article's text is in a field whose name is not recognized."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


@dataclass(frozen=True, slots=True)
class Receipt:
    """An article after a submission, and the submission's effect."""

    article: Article
    kind: SubmissionKind

    @property
    def is_new_revision(self) -> bool:
        """Whether the submission needs translation."""
        return self.kind is SubmissionKind.NEW_REVISION


async def receive_submission(payload: dict[str, Any]) -> Receipt:
    """Receive a submission. Returns its article and its effect.

    On return, the original of a published article is in the blog storage, and every locale has a translation
    row. Idempotent. If `NothingToPublish`, `UnreadText`, `StorageUnavailable` or `DatabaseUnavailable` is
    raised, no row has changed.
    """
    submission = read_submission(payload, datetime.now(UTC))
    receipt = await insist(partial(_receive, submission))
    if receipt.article.remove_at:
        await try_to_remove_files(receipt.article.id)
    return receipt


async def publish_kept(article_id: UUID, actor: Actor) -> Article | None:
    """Publish an unpublished article with its stored text. Returns None if there is no such article.

    Submissions with an earlier time do not unpublish the article again. If `NothingToPublish` or
    `StorageUnavailable` is raised, nothing has changed.
    """
    log_article(article_id)
    now = current_backends().clock.now()
    async with page_transaction():
        article = await Article.select_for_update().get_or_none(id=article_id)
        if article is None or article.status != PublicationStatus.UNPUBLISHED:
            return None
        submission = replace(
            read_submission(article.payload, now).published_at(now), identity=article.identity
        )
        taken_folders = await find_taken_folders(submission)
        receipt = await _publish_again(submission, taken_folders.values(), now)
        for team in await find_readers():
            await record(team.id, actor, Action.ARTICLE_PUBLISHED, article.slug, article.id)
        return receipt.article


async def insist(receive: Callable[[], Awaitable[Result]]) -> Result:
    """Call `receive`, and call it again if its submission conflicts with a concurrent one.

    If a new article arrives twice at the same time, a unique column rejects one of the submissions. When the
    rejected submission is received again, it finds the row of the other submission. A transaction that was
    rolled back after a deadlock is repeated, too. Each repetition follows a short pause.
    """
    for _ in range(MAX_CONFLICTS):
        with suppress(IntegrityError, TransactionConflict):
            return await receive()
        await asyncio.sleep(random.uniform(0, MAX_PAUSE_SECONDS))  # noqa: S311 - jitter is no secret
    return await receive()


async def _receive(submission: Submission) -> Receipt:
    now = current_backends().clock.now()
    is_published = submission.status is PublicationStatus.PUBLISHED
    async with page_transaction() if is_published else transaction() as connection:
        taken_folders = await find_taken_folders(submission)
        if submission.identity in taken_folders:
            take = _publish_again if is_published else _withdraw
            receipt = await take(submission, taken_folders.values(), now)
        else:
            submission = submission.completed_by({})
            demand_text(submission)
            article = make_article(submission, taken_folders.values(), now)
            if not is_published:
                await mark_leftovers(article, submission, taken_folders.values(), now)
            receipt = await _take_in(connection, article)
    if receipt.kind is SubmissionKind.STALE:
        log.info(
            "A submission is stale: its %s is %s, but the stored article has %s",
            submission.source_time_field,
            submission.source_time,
            receipt.article.source_time,
        )
    return receipt


def demand_text(submission: Submission) -> None:
    """Check that a new published article has content.

    Raises `UnreadText` if its text is in a field with an unknown name, or `NothingToPublish` if it has no
    title or text.
    """
    if submission.status is PublicationStatus.PUBLISHED and (field := submission.find_unread_text()):
        raise UnreadText(field)
    demand_words(submission)


def demand_words(submission: Submission) -> None:
    """Raise `NothingToPublish` if a published article has no title or text."""
    if submission.status is PublicationStatus.PUBLISHED and not submission.has_words():
        raise NothingToPublish


async def _take_in(connection: BaseDBAsyncClient, article: Article) -> Receipt:
    """Insert a new article. Raises `IntegrityError` if another process inserted it first or took its folder.

    A withdrawn article is recorded too, so that an older submission does not publish it later.
    """
    log_article(article.id)
    if article.status != PublicationStatus.PUBLISHED:
        log.info("A submission withdraws an article that was never published")
        if article.status == PublicationStatus.DELETED:
            erase_content(article)
        await insert_together(connection, article)
        return Receipt(article, KINDS[PublicationStatus(article.status)])
    versions = await find_versions(article.slug, SOURCE_LOCALE)
    await insert_article(connection, article)
    await put_page(article, SOURCE_LOCALE, article.payload, replacing=versions)
    return Receipt(article, SubmissionKind.NEW_REVISION)


async def _publish_again(submission: Submission, taken_folders: Collection[str], now: datetime) -> Receipt:
    article, submission, kind = await _find_kept(submission)
    was_published = article.status == PublicationStatus.PUBLISHED
    has_old_files = article.remove_at is not None
    if kind is SubmissionKind.NEW_REVISION:
        demand_words(submission)
        await _revise(article, submission, now)
        article.withdrawn_at = article.remove_at = None
        article.nudged_at = now
        if article.slug == private_folder(article.identity):
            article.slug = choose_folder(submission, taken_folders)
    if article.status != PublicationStatus.PUBLISHED:
        await article.save()
        return Receipt(article, kind)
    # The old files are removed before new files are stored. Otherwise the files of locales that are no longer
    # configured would stay.
    if has_old_files:
        await remove_pages(article)
    versions = await find_versions(article.slug, SOURCE_LOCALE)
    await article.save()
    await queue_translations(article, current_backends().settings.locales, now)
    # The page is stored inside the transaction, so that the older of two concurrent submissions cannot store
    # its page last.
    await put_page(article, SOURCE_LOCALE, article.payload, replacing=versions)
    if not was_published:
        await remove_tombstone(article.slug)
    return Receipt(article, kind)


async def _withdraw(submission: Submission, _: Collection[str], now: datetime) -> Receipt:
    article, submission, kind = await _find_kept(submission)
    if kind in WITHDRAWALS:
        # The submission is a draft with changed content.
        if kind is SubmissionKind.UNPUBLISHED and submission.content_hash != article.content_hash:
            await _revise(article, submission, now)
        await take_back(article, submission.status, now)
    elif kind is SubmissionKind.DUPLICATE:  # a failed publication may have left files
        mark_files(article, now)
    await article.save()
    return Receipt(article, kind)


async def _find_kept(submission: Submission) -> tuple[Article, Submission, SubmissionKind]:
    """Lock the stored article of a submission, and complete the submission with the article's fields.

    Returns the article, the completed submission and its kind.
    """
    article = await Article.select_for_update().get(identity=submission.identity)
    log_article(article.id)
    submission = submission.completed_by(article.payload)
    kind = compare_with_kept(submission, article)
    article.source_time, article.source_time_field = latest_source_time(submission, article)
    return article, submission, kind


async def _revise(article: Article, submission: Submission, now: datetime) -> None:
    """Apply a submission to its article. If only the status has changed, the revision stays the same."""
    is_published_again = article.status != submission.status == PublicationStatus.PUBLISHED
    article.status = submission.status
    article.payload, article.tags = submission.payload, read_tags(submission.payload)
    article.address = key_of_article(submission.payload)
    article.updated_at = now
    if submission.content_hash != article.content_hash:
        article.revision += 1
        article.title = read_title(submission.payload)  # type: ignore[assignment]  # the column is nullable
        article.content_hash = submission.content_hash
        await note_revision(article, HistoryEvent.REVISED, now)
    if is_published_again:
        await note_revision(article, HistoryEvent.PUBLISHED, now)


async def find_article(article_id: UUID) -> Article | None:
    """Return an article with its translations, or None if it does not exist or was deleted."""
    known = Article.exclude(status=PublicationStatus.DELETED)
    return await known.get_or_none(id=article_id).prefetch_related("translations")


async def list_articles(
    limit: int, status: str | None = None, after_id: UUID | None = None, search: str = ""
) -> Page[Article]:
    """Return up to `limit` articles with their translations, newest first, starting after `after_id`.

    `status` selects articles with a translation in that status; `search` matches the title or slug, ignoring
    case. Payloads are not read, because the payloads of one page may take a hundred megabytes.
    """
    articles = Article.exclude(status=PublicationStatus.DELETED).only(*LISTED_FIELDS)
    if search:
        articles = articles.filter(Q(title__icontains=search) | Q(slug__icontains=search))
    if status:  # a join would duplicate articles, and DISTINCT would sort every column
        with_status = Translation.filter(status=status)
        articles = articles.filter(id__in=Subquery(with_status.values("article_id")))
    return await read_page(articles.prefetch_related("translations"), limit, after_id)


async def page_through_articles() -> AsyncIterator[dict[UUID, int]]:
    """Iterate over published articles in id order. Yields pages that map article ids to revisions."""
    published = Article.filter(status=PublicationStatus.PUBLISHED)
    articles, last_id = published.order_by("id").limit(ARTICLES_A_PAGE), UUID(int=0)
    while revisions := dict(await articles.filter(id__gt=last_id).values_list("id", "revision")):
        yield revisions
        *_, last_id = revisions
