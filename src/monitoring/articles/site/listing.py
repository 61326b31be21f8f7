"""Lists what the site-wide files contain: published articles and their translations.

Translations by the demonstration engine are omitted.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from tortoise.functions import Count, Max
from tortoise.queryset import QuerySet

from monitoring.articles.models import Article, PublicationStatus, Translation
from monitoring.articles.service import page_through_articles
from monitoring.articles.storage import SOURCE_LOCALE
from monitoring.articles.submissions import hash_json
from monitoring.backends.current import current_backends


async def hash_state(pattern: str) -> str:
    """Return a hash of the state that the site-wide files depend on.

    The state consists of a few counts and times over all rows, and the settings.
    """
    articles, translations = _published(), _translated()
    sums = [
        await Article.all().annotate(newest=Max("withdrawn_at")).values_list("newest"),
        await articles.annotate(count=Count("id"), newest=Max("updated_at")).values_list("count", "newest"),
        await translations.annotate(count=Count("id"), newest=Max("translated_at")).values_list(
            "count", "newest"
        ),
    ]
    return hash_json([pattern, current_backends().settings.locales, str(sums)])


async def page_through_site() -> AsyncIterator[tuple[str, Mapping[str, datetime]]]:
    """Yield each article's folder and when its page in each locale last changed, oldest article first."""
    async for revisions in page_through_articles():
        ids = list(revisions)
        translated: dict[UUID, dict[str, datetime]] = {article_id: {} for article_id in ids}
        rows = _translated().filter(article_id__in=ids).order_by("locale")
        for article_id, locale, moment in await rows.values_list("article_id", "locale", "translated_at"):
            translated[article_id][locale] = moment
        articles = _published().filter(id__in=ids).order_by("id")
        for article_id, slug, updated_at in await articles.values_list("id", "slug", "updated_at"):
            yield slug, {SOURCE_LOCALE: updated_at, **translated[article_id]}


async def find_newest(locale: str, most: int) -> Sequence[tuple[str, object]]:
    """Return the folders of the newest articles in a locale, at most `most`, each with a marker.

    An article's marker changes whenever its page changes.
    """
    if locale == SOURCE_LOCALE:
        articles = _published().order_by("-id").limit(most)
        return [(slug, mark) for slug, *mark in await articles.values_list("slug", "id", "revision")]
    rows = _translated().filter(locale=locale, article__status=PublicationStatus.PUBLISHED)
    newest = rows.order_by("-article_id").limit(most)
    found = await newest.values_list("article__slug", "article_id", "translated_at")
    return [(slug, mark) for slug, *mark in found]


def _published() -> QuerySet[Article]:
    return Article.filter(status=PublicationStatus.PUBLISHED)


def _translated() -> QuerySet[Translation]:
    return Translation.filter(
        translated_at__isnull=False,
        is_demonstration=False,
        locale__in=current_backends().settings.locales,
    )
