"""Creates the rows of new articles and their translations, and chooses article folders."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from tortoise.backends.base.client import BaseDBAsyncClient
from tortoise.expressions import Q

from monitoring.articles.links.addresses import key_of_article
from monitoring.articles.models import Article, PublicationStatus, Translation
from monitoring.articles.submissions import Submission, private_folder, read_tags, read_title
from monitoring.backends.current import current_backends
from monitoring.backends.inserts import insert_together


async def find_taken_folders(submission: Submission) -> dict[str, str]:
    """Map the identities of existing articles to their folders.

    The result contains the submission's own article, if it exists, and each article that uses one of the
    submission's candidate folders.
    """
    taken = Article.filter(Q(identity=submission.identity) | Q(slug__in=list(submission.folders())))
    return dict(await taken.values_list("identity", "slug"))


def make_article(submission: Submission, taken_folders: Collection[str], now: datetime) -> Article:
    """Return a new article row.

    If the article is published, it gets the first free candidate folder, or else its private folder.
    """
    is_published = submission.status is PublicationStatus.PUBLISHED
    return Article(
        identity=submission.identity,
        address=key_of_article(submission.payload),
        slug=(
            choose_folder(submission, taken_folders) if is_published else private_folder(submission.identity)
        ),
        status=submission.status.value,
        withdrawn_at=None if is_published else now,
        title=read_title(submission.payload),
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
    """Return the first of the submission's candidate folders that is free."""
    return next(folder for folder in submission.folders() if folder not in taken_folders)


async def insert_article(connection: BaseDBAsyncClient, article: Article) -> None:
    """Insert a new article, with a queued translation into each configured locale.

    Raises `IntegrityError` if another request inserted the article first, or took its folder.
    """
    translations = make_translations(article, current_backends().settings.locales, article.received_at)
    await insert_together(connection, article, *translations)


def make_translations(article: Article, locales: Iterable[str], due_at: datetime) -> list[Translation]:
    """Return queued translation rows for the article's revision, one for each locale."""
    return [
        Translation(article_id=article.id, locale=locale, revision=article.revision, due_at=due_at)
        for locale in locales
    ]
