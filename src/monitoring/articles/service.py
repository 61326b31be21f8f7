"""Articles in, articles out: every function is one transaction or one statement."""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tortoise.exceptions import IntegrityError
from tortoise.expressions import Subquery

from monitoring.articles.deliveries import Delivery, read_delivery
from monitoring.articles.intake import (
    find_taken_folders,
    insert_articles,
    insert_translations,
    make_article,
    take_in_by_the_round,
)
from monitoring.articles.models import Article, Translation, TranslationStatus
from monitoring.articles.rules import Verdict, judge_delivery, latest_source_time
from monitoring.articles.storage import SOURCE_LOCALE, find_versions, page_transaction, put_page
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.errors import TransactionConflict
from monitoring.backends.pages import read_page
from monitoring.logs import log_article

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from tortoise.backends.base.client import BaseDBAsyncClient

    from monitoring.backends.pages import Page

# A nudge at the beginning of time: the sweeper's next round takes the article.
NEVER = datetime(1970, 1, 1, tzinfo=UTC)

# One statement over all articles would take longer than a statement may, some day.
ARTICLES_A_PAGE = 200

LISTED_FIELDS = ("id", "slug", "title", "revision", "received_at", "updated_at")

MAX_CONFLICTS = 3
MAX_PAUSE_SECONDS = 0.1

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Receipt:
    """An article after a delivery, and what the delivery was to it."""

    article: Article
    verdict: Verdict

    @property
    def is_new_revision(self) -> bool:
        """Whether the delivery made work."""
        return self.verdict is Verdict.NEW_REVISION


async def receive_delivery(payload: dict[str, Any]) -> Receipt:
    """Take an article in. When this returns, the original is stored and every translation is a row.

    Idempotent. Raises `StorageUnavailable` or `DatabaseUnavailable`; the delivery has then changed no row.
    """
    delivery = read_delivery(payload, datetime.now(UTC))
    if article := await take_in_by_the_round(delivery):
        log_article(article.id)
        return Receipt(article, Verdict.NEW_REVISION)
    # Two first deliveries at once are told apart by the unique columns: the loser finds the winner's row. Of
    # two that lock each other out, the one that is undone lets the other go first.
    for _ in range(MAX_CONFLICTS):
        with suppress(IntegrityError, TransactionConflict):
            return await _receive_alone(delivery)
        await asyncio.sleep(random.uniform(0, MAX_PAUSE_SECONDS))  # noqa: S311 - jitter is no secret
    return await _receive_alone(delivery)


async def _receive_alone(delivery: Delivery) -> Receipt:
    now = datetime.now(UTC)
    async with page_transaction() as connection:
        taken_folders = await find_taken_folders(connection, [delivery])
        if delivery.identity in taken_folders:
            receipt = await _take_again(delivery, now)
        else:
            article = make_article(delivery, taken_folders.values(), now)
            receipt = await _take_in(connection, article)
    if receipt.verdict is Verdict.STALE:
        log.info(
            "A delivery is stale: its %s is %s, and %s is known",
            delivery.source_time_field,
            delivery.source_time,
            receipt.article.source_time,
        )
    return receipt


async def _take_in(connection: BaseDBAsyncClient, article: Article) -> Receipt:
    """Take in what is new. Raises `IntegrityError` if another was faster, or took the folder."""
    log_article(article.id)
    versions = await find_versions(article.slug, SOURCE_LOCALE)
    await insert_articles(connection, [article])
    await put_page(article, SOURCE_LOCALE, article.payload, replacing=versions)
    return Receipt(article, Verdict.NEW_REVISION)


async def _take_again(delivery: Delivery, now: datetime) -> Receipt:
    article = await Article.select_for_update().get(identity=delivery.identity)
    log_article(article.id)
    verdict = judge_delivery(delivery, article)
    versions = await find_versions(article.slug, SOURCE_LOCALE)
    if verdict is Verdict.NEW_REVISION:
        article.revision += 1
        article.title = delivery.payload["article"].get("title")
        article.content_hash = delivery.content_hash
        article.payload = delivery.payload
        article.updated_at = article.nudged_at = now
    article.source_time, article.source_time_field = latest_source_time(delivery, article)
    await article.save()
    await queue_translations(article, current_backends().settings.locales, now)
    # Inside the transaction, so that of two deliveries at once the older cannot store its file last.
    await put_page(article, SOURCE_LOCALE, article.payload, replacing=versions)
    return Receipt(article, verdict)


async def queue_translations(article: Article, locales: Sequence[str], now: datetime) -> bool:
    """Queue every locale that is missing or behind the article's revision, within the caller's transaction.

    Returns whether there was any.
    A worker in the middle of an earlier revision loses its claim, and with it the right to store its work.
    Locales that are no longer wanted stay as they are.
    """
    rows = Translation.filter(article_id=article.id, locale__in=locales)
    known = {row.locale for row in await rows.only("locale")}
    missing = [locale for locale in locales if locale not in known]
    if missing:
        connection = current_backends().database.context.db()
        await insert_translations(connection, [article.id], missing, revision=article.revision, due_at=now)
    count_behind = await rows.exclude(revision=article.revision).update(
        revision=article.revision,
        status=TranslationStatus.QUEUED,
        attempts=0,
        due_at=now,
        claim=None,
        reason=None,
        translated_at=None,
    )
    return bool(missing or count_behind)


async def find_article(article_id: UUID) -> Article | None:
    """Return an article with its translations."""
    return await Article.get_or_none(id=article_id).prefetch_related("translations")


async def list_articles(limit: int, status: str | None = None, after_id: UUID | None = None) -> Page[Article]:
    """Return up to `limit` articles with their translations, newest first, from the one after `after_id` on.

    With a status, those that have a translation in it. What was delivered is not read: a page of that may be
    a hundred megabytes.
    """
    articles = Article.all().only(*LISTED_FIELDS)
    if status:  # no join: its duplicates would have to be sorted out, by every column
        with_status = Translation.filter(status=status)
        articles = articles.filter(id__in=Subquery(with_status.values("article_id")))
    return await read_page(articles.prefetch_related("translations"), limit, after_id)


async def page_through_articles() -> AsyncIterator[dict[UUID, int]]:
    """Go through all articles in the order of their ids; yields pages of revisions by article id."""
    articles, last_id = Article.all().order_by("id").limit(ARTICLES_A_PAGE), UUID(int=0)
    while revisions := dict(await articles.filter(id__gt=last_id).values_list("id", "revision")):
        yield revisions
        *_, last_id = revisions


async def retry_failed(article_id: UUID | None = None, locale: str | None = None) -> int:
    """Queue failed translations again, with all their attempts, and return how many there were.

    The sweeper of whatever process works on this database sends for them.
    """
    failed = Translation.filter(status=TranslationStatus.FAILED)
    if article_id:
        failed = failed.filter(article_id=article_id)
    if locale:
        failed = failed.filter(locale=locale)
    async with transaction():
        await Article.filter(id__in=Subquery(failed.values("article_id"))).update(nudged_at=NEVER)
        return await failed.update(
            status=TranslationStatus.QUEUED, attempts=0, reason=None, due_at=datetime.now(UTC)
        )
