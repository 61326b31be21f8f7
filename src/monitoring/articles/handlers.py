"""The operations of the Articles tag."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from monitoring.articles import service
from monitoring.articles.events import is_test_submission
from monitoring.articles.models import PublicationStatus
from monitoring.articles.representations import represent_accepted, represent_article, represent_ignored
from monitoring.articles.tasks import ask_for_translation
from monitoring.articles.withdrawal import PUBLISHER, withdraw_article
from monitoring.backends.current import current_backends
from monitoring.contract.endpoint import checked_before_body
from monitoring.contract.problems import Problem
from monitoring.contract.replies import Reply
from monitoring.logs import log_article
from monitoring.metrics import DELIVERIES


async def _demand_blog_storage() -> None:
    """Refuse a submission before its body is read if there is nowhere to keep it."""
    if current_backends().blog_storage is None:
        raise Problem("blog_storage_not_configured")


@checked_before_body(_demand_blog_storage)
async def deliver_article(body: dict[str, Any]) -> Reply:
    """Take an article in, and ask for its translation once everything is stored."""
    if is_test_submission(body):
        DELIVERIES.labels("test").inc()
        return Reply(represent_ignored(), 202)
    receipt = await service.receive_submission(body)
    DELIVERIES.labels(receipt.kind).inc()
    article, article_id = receipt.article, str(receipt.article.id)
    if receipt.is_new_revision:
        await ask_for_translation(article_id)
    locales = current_backends().settings.locales
    is_deleted = article.status == PublicationStatus.DELETED
    headers = {} if is_deleted else {"Location": f"/api/articles/{article_id}"}
    return Reply(represent_accepted(article, locales), 202, headers)


async def get_article(article_id: str) -> Reply:
    """Answer with an article and the state of its translations."""
    log_article(UUID(article_id))
    article = await service.find_article(UUID(article_id))
    if article is None:
        raise Problem("article_not_found")
    return Reply(represent_article(article))


async def delete_article(article_id: str) -> Reply:
    """Erase an article. Its files follow at once, or as soon as the blog storage can be had."""
    if await service.find_article(UUID(article_id)) is None:
        raise Problem("article_not_found")
    await withdraw_article(UUID(article_id), PublicationStatus.DELETED, PUBLISHER)
    return Reply.empty()
