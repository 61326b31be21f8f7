"""The layout of the blog storage: a folder an article, a file a locale. See docs/blog-storage.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from monitoring.articles.markdown_export import export_page
from monitoring.articles.representations import write_moment
from monitoring.backends.current import current_backends
from monitoring.backends.errors import StorageUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from monitoring.articles.models import Article
    from monitoring.backends.objects import BlogStorage

SOURCE_LOCALE = "en"


async def put_page(  # noqa: PLR0913 - keywords, named like the fields of the file
    article: Article,
    locale: str,
    delivery: Mapping[str, Any],
    *,
    engine: str | None = None,
    is_demonstration: bool = False,
    untranslated_segments: int = 0,
    translated_at: datetime | None = None,
) -> None:
    """Store one locale of the article's revision, in place of an earlier one. Raises `StorageUnavailable`."""
    page = {
        "article_id": str(article.id),
        "slug": article.slug,
        "locale": locale,
        "source_locale": SOURCE_LOCALE,
        "revision": article.revision,
        "received_at": write_moment(article.updated_at),
        "translated_at": translated_at and write_moment(translated_at),
        "engine": engine,
        "is_demonstration": is_demonstration,
        "untranslated_segments": untranslated_segments,
        "delivery": delivery,
    }
    storage = _configured_storage()
    # The export first: once the JSON names a revision, everything of that revision is there.
    if current_backends().settings.blog_export == "markdown":
        await storage.put(f"{article.slug}/{locale}.md", export_page(page).encode())
    await storage.put(f"{article.slug}/{locale}.json", orjson.dumps(page, option=orjson.OPT_INDENT_2))


def _configured_storage() -> BlogStorage:
    storage = current_backends().blog_storage
    if storage is None:
        raise StorageUnavailable("BLOG_STORAGE_URL is not set")
    return storage
