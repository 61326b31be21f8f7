"""Reads articles and their translations for the sites that display them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from monitoring.articles.links.following import follow_links_of
from monitoring.articles.models import Article, PublicationStatus
from monitoring.articles.queries import ArticleFilter, find_ids
from monitoring.articles.service import LISTED_FIELDS
from monitoring.articles.storage import find_page
from monitoring.auth.callers import Caller, TestPublisher
from monitoring.auth.models import Team
from monitoring.backends.current import current_backends
from monitoring.backends.pages import Page
from monitoring.contract.problems import Problem


async def demand_reader(caller: Caller | TestPublisher | None) -> None:
    """Raise Problem unless the caller's team may read articles. Publishers may always read articles."""
    names = current_backends().settings.article_teams
    if isinstance(caller, Caller) and not await Team.exists(id=caller.team_id, name__in=names):
        raise Problem("articles_not_shared")


async def read_translation(article_id: UUID, locale: str) -> tuple[Article, dict[str, Any]]:
    """Return an article and its page in a locale, which may be the source locale, from the blog storage.

    Until a new revision is translated, the page of the previous revision is returned. The links in the page
    are up to date. Raises Problem if the article or the page does not exist, or `StorageUnavailable`.
    """
    known = Article.exclude(status=PublicationStatus.DELETED)
    article = await known.get_or_none(id=article_id).only("id", "slug", "status")
    if article is None:
        raise Problem("article_not_found")
    is_published = article.status == PublicationStatus.PUBLISHED
    page = await find_page(article.slug, locale) if is_published else None
    if page is None:
        raise Problem("translation_not_found")
    return article, await follow_links_of(page, locale)


async def list_articles(wanted: ArticleFilter, limit: int, after_id: UUID | None) -> Page[Article]:
    """Return up to `limit` articles without their content, newest first, starting after `after_id`."""
    found = await find_ids(wanted, limit + 1, after_id)
    articles = Article.filter(id__in=found[:limit]).only(*LISTED_FIELDS).order_by("-id")
    rows = await articles.prefetch_related("translations")
    return Page(rows, found[limit - 1] if len(found) > limit else None)
