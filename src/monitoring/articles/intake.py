"""Takes in new articles: those that arrive at the same time share one transaction, a round."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from tortoise.backends.base.client import BaseDBAsyncClient
from tortoise.exceptions import IntegrityError

from monitoring.articles import queries
from monitoring.articles.models import Article, PublicationStatus
from monitoring.articles.storage import (
    put_originals,
    refuse_for_lack_of_turns,
    round_transaction,
    turn_seconds,
)
from monitoring.articles.submissions import Submission, private_folder, read_tags
from monitoring.backends.current import current_backends
from monitoring.backends.errors import (
    BackendUnavailable,
    StorageChanged,
    StorageUnavailable,
    TransactionConflict,
)
from monitoring.backends.fields import uuid7_text
from monitoring.backends.inserts import insert_together
from monitoring.backends.rounds import Take

# What a round does with a submission: it makes an article, or says why it could not store one, or leaves it
# to a transaction of its own (None).
Outcome: TypeAlias = "Article | StorageUnavailable | None"

# If another process was faster with an article, the second attempt finds that article.
ATTEMPTS = 2

log = logging.getLogger(__name__)


async def take_in_by_the_round(submission: Submission) -> Article | None:
    """Take in a new article, in one transaction with others that arrive at the same time.

    Returns None if nothing was decided and the submission needs a transaction of its own: either the article
    may be known already, or the round failed, perhaps because of another submission. Raises
    `StorageUnavailable` or `DatabaseUnavailable`.
    """
    rounds = current_backends().rounds
    try:
        return await rounds.join(_take_in, submission, submission.size_bytes, turn_seconds())
    except TimeoutError as error:
        raise refuse_for_lack_of_turns(error) from error


async def _take_in(take: Take[Submission]) -> Sequence[Outcome]:
    submissions: Sequence[Submission] = ()
    try:
        for _ in range(ATTEMPTS):
            with suppress(IntegrityError, TransactionConflict):
                async with round_transaction() as connection:
                    submissions = submissions or take()
                    articles = await _make_new_articles(connection, submissions)
                    not_stored = await _store_articles(connection, list(filter(None, articles)))
                return [article and not_stored.get(article.id, article) for article in articles]
    except BackendUnavailable:
        raise
    except Exception:
        if not submissions:
            raise
        log.exception("A round of %d submissions failed: each goes alone", len(submissions))
    return [None] * len(submissions or take())


async def _make_new_articles(
    connection: BaseDBAsyncClient, submissions: Sequence[Submission]
) -> list[Article | None]:
    """Make an article for each submission of an unknown one; of two with the same identity, for the first."""
    taken_folders = await find_taken_folders(connection, submissions)
    now = current_backends().clock.now()
    articles: list[Article | None] = []
    for submission in submissions:
        if submission.identity in taken_folders:
            articles.append(None)
            continue
        article = make_article(submission, taken_folders.values(), now)
        taken_folders[submission.identity] = article.slug
        articles.append(article)
    return articles


async def _store_articles(connection: BaseDBAsyncClient, articles: Sequence[Article]) -> dict[UUID, Outcome]:
    """Store rows and files of new articles. Returns what became of those whose file was refused."""
    if not articles:
        return {}
    # Every process inserts in this order, so that two of them cannot deadlock.
    await insert_articles(connection, sorted(articles, key=lambda article: article.identity))
    refused = await put_originals(articles)
    if refused:
        await Article.filter(id__in=list(refused)).delete()  # and their translations with them
    # If a file without a row lies there, the submission goes alone: it then looks at that file and replaces
    # it.
    return {id_: None if isinstance(error, StorageChanged) else error for id_, error in refused.items()}


async def find_taken_folders(
    connection: BaseDBAsyncClient, submissions: Sequence[Submission]
) -> dict[str, str]:
    """Find the submissions' articles, and the articles in folders that they could have. By identity."""
    identities = [submission.identity for submission in submissions]
    folders = [folder for submission in submissions for folder in submission.folders()]
    if not identities:
        return {}
    return await queries.find_taken(connection, identities, folders)


def make_article(submission: Submission, taken_folders: Collection[str], now: datetime) -> Article:
    """Make a new article, in its best folder that is still free if it is published."""
    is_published = submission.status is PublicationStatus.PUBLISHED
    return Article(
        identity=submission.identity,
        slug=(
            choose_folder(submission, taken_folders) if is_published else private_folder(submission.identity)
        ),
        status=submission.status.value,
        withdrawn_at=None if is_published else now,
        title=submission.payload["article"].get("title"),
        revision=1,
        content_hash=submission.content_hash,
        source_time=submission.source_time,
        source_time_field=submission.source_time_field,
        payload=submission.payload,
        tags=read_tags(submission.payload),
        received_at=now,
        updated_at=now,
        nudged_at=now,
    )


def choose_folder(submission: Submission, taken_folders: Collection[str]) -> str:
    """Return the article's best folder that is still free."""
    return next(folder for folder in submission.folders() if folder not in taken_folders)


async def insert_articles(connection: BaseDBAsyncClient, articles: Sequence[Article]) -> None:
    """Insert new articles, and queue every locale of each.

    Raises `IntegrityError` if another process inserted one of them first, or took its folder.
    """
    await insert_together(connection, *articles)
    locales = current_backends().settings.locales
    await insert_translations(
        connection, [article.id for article in articles], locales, revision=1, due_at=articles[0].received_at
    )


async def insert_translations(
    connection: BaseDBAsyncClient,
    article_ids: Sequence[UUID],
    locales: Iterable[str],
    *,
    revision: int,
    due_at: datetime,
) -> None:
    """Queue locales that have no row yet. Raises `IntegrityError` if one of them has."""
    ids = {str(article_id): {locale: uuid7_text() for locale in locales} for article_id in article_ids}
    await queries.insert_translations(connection, ids, revision=revision, due_at=due_at)
