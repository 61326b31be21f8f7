"""Articles as the sites of a blog read them: who may, and which there are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from monitoring.articles.models import Article, PublicationStatus
from monitoring.articles.service import LISTED_FIELDS
from monitoring.articles.storage import SOURCE_LOCALE, find_page
from monitoring.auth.callers import Caller
from monitoring.auth.models import Team
from monitoring.backends.current import current_backends
from monitoring.backends.fields import read_id
from monitoring.backends.pages import Page
from monitoring.backends.statements import is_postgres, spell
from monitoring.contract.problems import Problem

# More changes than this are not collected: the newest articles are looked at one by one until a page is full.
FEW_CHANGES = 1000

# In the order of the indexes, so that no more is read than counts.
_HAS_MANY_CHANGES = """
    SELECT 1 FROM (
        SELECT id FROM articles WHERE updated_at >= $1 ORDER BY updated_at LIMIT 1 OFFSET $2
    ) AS one
    UNION ALL SELECT 1 FROM (
        SELECT id FROM translations WHERE translated_at >= $1 ORDER BY translated_at LIMIT 1 OFFSET $2
    ) AS other
"""

# A subquery with an aggregate runs for each article: one look at an index. PostgreSQL would read all
# translations for EXISTS. Another index has the articles' times, so that none is read to be passed over: that
# would be slow on SQLite, which stores them behind the payload.
_CHANGED_SINCE_LIKE_MANY = """
    (
        articles.updated_at >= {0}
        OR (SELECT MAX(translated_at) FROM translations WHERE article_id = articles.id) >= {0}
    )
"""

# Both index their times, so that few changes are found fast, however many articles there are.
_CHANGED_SINCE = """
    articles.id IN (
        SELECT id FROM articles WHERE updated_at >= {0}
        UNION ALL SELECT article_id FROM translations WHERE translated_at >= {0}
    )
"""

_TRANSLATED_INTO = """
    EXISTS (
        SELECT 1 FROM translations
        WHERE article_id = articles.id AND locale = {0} AND translated_at IS NOT NULL
    )
"""

_TAGGED_ON_POSTGRES = (
    "EXISTS (SELECT 1 FROM json_array_elements_text(articles.tags::json) AS tag WHERE tag = {0})"
)
_TAGGED_ON_SQLITE = "EXISTS (SELECT 1 FROM json_each(articles.tags) WHERE value = {0})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleFilter:
    """Which articles to list. Fields that are None do not filter; the others combine with *and*."""

    status: str = PublicationStatus.PUBLISHED
    locale: str | None = None
    tag: str | None = None
    updated_since: datetime | None = None


async def demand_reader(caller: Caller | None) -> None:
    """Raise Problem unless the caller's team may read articles. The publisher is no caller, and may."""
    names = current_backends().settings.article_teams
    if caller and not await Team.exists(id=caller.team_id, name__in=names):
        raise Problem("articles_not_shared")


async def read_translation(article_id: UUID, locale: str) -> tuple[Article, dict[str, Any]]:
    """Return an article and its page in a locale, which may be the source locale, from the blog storage.

    Raises Problem if there is no such article or page, and `StorageUnavailable`. While a revision is being
    translated, the page is that of the revision before.
    """
    known = Article.exclude(status=PublicationStatus.DELETED)
    article = await known.get_or_none(id=article_id).only("id", "slug", "status")
    if article is None:
        raise Problem("article_not_found")
    is_published = article.status == PublicationStatus.PUBLISHED
    page = await find_page(article.slug, locale) if is_published else None
    if page is None:
        raise Problem("translation_not_found")
    return article, page


async def list_articles(wanted: ArticleFilter, limit: int, after_id: UUID | None) -> Page[Article]:
    """Return up to `limit` articles without their content, newest first, starting after `after_id`."""
    found = await _find_ids(wanted, limit + 1, after_id)
    articles = Article.filter(id__in=found[:limit]).only(*LISTED_FIELDS).order_by("-id")
    rows = await articles.prefetch_related("translations")
    return Page(rows, found[limit - 1] if len(found) > limit else None)


async def _find_ids(wanted: ArticleFilter, count: int, after_id: UUID | None) -> list[UUID]:
    connection = current_backends().database.context.db()
    on_postgres = is_postgres(connection)
    since = wanted.updated_since if on_postgres else wanted.updated_since and str(wanted.updated_since)
    has_many_changes = since and await connection.execute_query_dict(
        spell(connection, _HAS_MANY_CHANGES), [since, FEW_CHANGES]
    )
    conditions = {
        "articles.status = {0}": str(wanted.status),
        "articles.id < {0}": str(after_id) if after_id else None,
        _TRANSLATED_INTO: wanted.locale if wanted.locale != SOURCE_LOCALE else None,
        _TAGGED_ON_POSTGRES if on_postgres else _TAGGED_ON_SQLITE: wanted.tag,
        _CHANGED_SINCE_LIKE_MANY if has_many_changes else _CHANGED_SINCE: since,
    }
    given = {condition: value for condition, value in conditions.items() if value is not None}
    numbered = [condition.format(f"${number}") for number, condition in enumerate(given, start=1)]
    sql = (
        f"SELECT id FROM articles WHERE {' AND '.join(numbered)}"  # noqa: S608 - conditions of our own
        f" ORDER BY status DESC, id DESC LIMIT ${len(given) + 1}"
    )
    rows = await connection.execute_query_dict(spell(connection, sql), [*given.values(), count])
    return [read_id(row["id"]) for row in rows]
