"""Handlers for the operations of the Articles tag."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from monitoring.articles import reading, service
from monitoring.articles.corrections import (
    BrokenCodes,
    UnknownSegment,
    correct,
    list_segments,
    take_back_correction,
)
from monitoring.articles.models import Article, PublicationStatus, TestArticle
from monitoring.articles.publishers import read_submissions
from monitoring.articles.publishing_words import is_test_submission
from monitoring.articles.queries import ArticleFilter
from monitoring.articles.reading import demand_reader
from monitoring.articles.representations import (
    represent_accepted,
    represent_article,
    represent_ignored,
    represent_page,
    represent_segment,
    represent_segments,
    represent_test_article,
    represent_translation,
)
from monitoring.articles.tasks import ask_for_translation, translate_test_article
from monitoring.articles.test_articles import delete_test_article, find_test_article, receive_test_submission
from monitoring.articles.withdrawal import PUBLISHER, withdraw_article
from monitoring.auth.callers import Caller, TestPublisher
from monitoring.backends.current import current_backends
from monitoring.contract.cursors import decode_cursor
from monitoring.contract.entity_tags import version_of
from monitoring.contract.problems import Problem
from monitoring.contract.timestamps import read_timestamp
from monitoring.logs import log_article
from monitoring.metrics import DELIVERIES
from monitoring.web.endpoint import checked_before_body
from monitoring.web.replies import Reply

# Clients revalidate a cached translation each time, and shared caches do not store it.
REVALIDATED = {"Cache-Control": "private, no-cache"}


async def _demand_blog_storage() -> None:
    """Raise Problem if no blog storage is configured. Called before the request body is read."""
    if current_backends().blog_storage is None:
        raise Problem("blog_storage_not_configured")


@checked_before_body(_demand_blog_storage)
async def deliver_article(
    body: dict[str, Any], x_wp_webhook_name: str | None = None, caller: TestPublisher | None = None
) -> Reply:
    """Receive the articles of a delivery in order.

    If an article fails, the articles before it stay stored. If the publisher then sends the delivery again,
    these articles count as duplicates.
    """
    submissions = read_submissions(body, x_wp_webhook_name)
    mark = {"is_test": True} if caller else {}
    if any(map(is_test_submission, submissions)):
        DELIVERIES.labels("test").inc()
        return Reply(represent_ignored() | mark, 202)
    take_in = _take_in_test if caller else _take_in
    try:
        articles = [await take_in(submission) for submission in submissions]
    except service.NothingToPublish:
        raise Problem("article_empty") from None
    except service.UnreadText as unread:
        raise Problem("text_not_read", field=unread.field) from None
    is_deleted = articles[0].status == PublicationStatus.DELETED
    headers = {} if is_deleted else {"Location": f"/api/articles/{articles[0].id}"}
    return Reply(represent_accepted(articles, current_backends().settings.locales) | mark, 202, headers)


async def _take_in_test(submission: dict[str, Any]) -> TestArticle:
    """Receive a test article, and request its translation if one is due."""
    article = await receive_test_submission(submission)
    DELIVERIES.labels("test").inc()
    if article.is_due:
        await translate_test_article.send(str(article.id))
    return article


async def _take_in(submission: dict[str, Any]) -> Article:
    """Receive an article, and request its translation if the submission created a new revision."""
    receipt = await service.receive_submission(submission)
    DELIVERIES.labels(receipt.kind).inc()
    if receipt.is_new_revision:
        await ask_for_translation(str(receipt.article.id))
    return receipt.article


@checked_before_body(demand_reader)
async def list_articles(  # noqa: PLR0913 - one argument per API parameter
    *,
    limit: int,
    cursor: str | None = None,
    status: str = PublicationStatus.PUBLISHED,
    locale: str | None = None,
    tag: str | None = None,
    updated_since: str | None = None,
) -> Reply:
    """Return a response with a page of the articles that pass all filters, newest first."""
    since = read_timestamp(updated_since) if updated_since else None
    wanted = ArticleFilter(status=status, locale=locale, tag=tag, updated_since=since)
    after_id = decode_cursor(cursor)
    return Reply.tagged(represent_page(await reading.list_articles(wanted, limit, after_id)))


@checked_before_body(demand_reader)
async def get_article(article_id: str, caller: Caller | TestPublisher | None = None) -> Reply:
    """Return a response with an article and the state of its translations."""
    log_article(UUID(article_id))
    if isinstance(caller, TestPublisher):
        test = await find_test_article(UUID(article_id))
        if test is None:
            raise Problem("article_not_found")
        return Reply.tagged(represent_test_article(test), version=version_of(test.updated_at))
    article = await service.find_article(UUID(article_id))
    if article is None:
        raise Problem("article_not_found")
    return Reply.tagged(represent_article(article), version=version_of(article.updated_at))


@checked_before_body(demand_reader)
async def get_article_translation(article_id: str, locale: str) -> Reply:
    """Return a response with an article's page in a locale, from the blog storage."""
    log_article(UUID(article_id))
    article, page = await reading.read_translation(UUID(article_id), locale)
    return Reply.tagged(represent_translation(article, locale, page), headers=REVALIDATED)


@checked_before_body(demand_reader)
async def list_translation_segments(
    article_id: str, locale: str, *, limit: int, cursor: str | None = None
) -> Reply:
    """Return a response with a page of an article's segments.

    If the cursor's segment no longer exists, the page starts at the first segment.
    """
    segments = await list_segments(await _find_translated(article_id, locale), locale)
    hashes = [segment.hash for segment in segments]
    last_id = decode_cursor(cursor)
    start = hashes.index(last_id.hex) + 1 if last_id and last_id.hex in hashes else 0
    has_more = len(segments) > start + limit
    return Reply(represent_segments(segments[start : start + limit], has_more=has_more))


@checked_before_body(demand_reader)
async def correct_translation_segment(
    article_id: str, locale: str, segment_id: str, body: dict[str, str | None], caller: Caller
) -> Reply:
    """Store or remove a correction, and request a translation into the locale if anything changed."""
    article = await _find_translated(article_id, locale)
    text, actor = body["text"], caller.actor
    try:
        if text is None:
            is_changed = await take_back_correction(article, locale, segment_id, actor)
        else:
            is_changed = bool(await correct(article, locale, {segment_id: text}, actor))
    except BrokenCodes:
        raise Problem("correction_codes_broken") from None
    except UnknownSegment:
        raise Problem("segment_not_found") from None
    if is_changed:
        await ask_for_translation(article_id)
    segments = {segment.hash: segment for segment in await list_segments(article, locale)}
    return Reply(represent_segment(segments[segment_id]))


async def _find_translated(article_id: str, locale: str) -> Article:
    """Return the article. Raises Problem if it does not exist or has no translation row for `locale`."""
    log_article(UUID(article_id))
    article = await service.find_article(UUID(article_id))
    if article is None:
        raise Problem("article_not_found")
    if locale not in {translation.locale for translation in article.translations}:
        raise Problem("translation_not_found")
    return article


async def delete_article(
    article_id: str, if_match: str | None = None, caller: TestPublisher | None = None
) -> Reply:
    """Delete an article. Its files are removed at once, or as soon as the blog storage is available."""
    if caller:
        if not await delete_test_article(UUID(article_id), if_match):
            raise Problem("article_not_found")
        return Reply.empty()
    if await service.find_article(UUID(article_id)) is None:
        raise Problem("article_not_found")
    await withdraw_article(UUID(article_id), PublicationStatus.DELETED, PUBLISHER, if_match)
    return Reply.empty()
