"""The layout of the blog storage: a folder an article, a file a locale. See docs/blog-storage.md."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from monitoring.articles.markdown_export import export_page
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.errors import StorageUnavailable
from monitoring.contract.timestamps import write_timestamp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from datetime import datetime

    from tortoise.backends.base.client import BaseDBAsyncClient

    from monitoring.articles.models import Article
    from monitoring.backends.objects import BlogStorage, Version

Versions: TypeAlias = "Mapping[str, Version]"  # by path

SOURCE_LOCALE = "en"


@asynccontextmanager
async def page_transaction() -> AsyncIterator[BaseDBAsyncClient]:
    """Begin a transaction that will put pages, when it is its turn. Raises `StorageUnavailable`."""
    async with _configured_storage().turn(), transaction() as connection:
        yield connection


async def find_versions(slug: str, locale: str) -> Versions:
    """Say what is stored for a locale, for a put that replaces just that. Raises `StorageUnavailable`."""
    storage = _configured_storage()
    return {path: await storage.find_version(path) for path in _paths(slug, locale)}


async def find_missing_locales(slug: str, locales: Sequence[str]) -> set[str]:
    """Say which of an article's locales lack a file. Raises `StorageUnavailable`."""
    stored = set(await _configured_storage().list(slug))
    return {locale for locale in locales if not stored.issuperset(_paths(slug, locale))}


async def find_page(slug: str, locale: str) -> dict[str, Any] | None:
    """Return what is stored of a locale, as `put_page` writes it; None if nothing, or nothing legible, is.

    Others may write into the storage too. Raises `StorageUnavailable`.
    """
    content = await _configured_storage().get(f"{slug}/{locale}.json")
    try:
        page = orjson.loads(content or b"null")
    except orjson.JSONDecodeError:
        return None
    match page:
        case {"revision": int(), "delivery": {"article": dict()}}:
            return dict(page)
    return None


async def put_page(  # noqa: PLR0913 - keywords, named like the fields of the file
    article: Article,
    locale: str,
    delivery: Mapping[str, Any],
    *,
    replacing: Versions,
    engine: str | None = None,
    is_demonstration: bool = False,
    untranslated_segments: int = 0,
    translated_at: datetime | None = None,
) -> None:
    """Store one locale of the article's revision, in place of these versions. Raises `StorageUnavailable`.

    Between finding the versions and this, the caller has asked the database whether the page is its own: what
    stalls in between and comes late, its lock lost, finds other versions and is refused.
    """
    page = {
        "article_id": str(article.id),
        "slug": article.slug,
        "locale": locale,
        "source_locale": SOURCE_LOCALE,
        "revision": article.revision,
        "received_at": write_timestamp(article.updated_at),
        "translated_at": write_timestamp(translated_at),
        "engine": engine,
        "is_demonstration": is_demonstration,
        "untranslated_segments": untranslated_segments,
        "delivery": delivery,
    }
    storage = _configured_storage()
    # The export first: once the JSON names a revision, everything of that revision is there.
    for path in _paths(article.slug, locale):
        written = export_page(page).encode() if path.endswith(".md") else _write_json(page)
        await storage.put(path, written, replacing[path])


def _paths(slug: str, locale: str) -> list[str]:
    page = f"{slug}/{locale}.json"
    if current_backends().settings.blog_export == "markdown":
        return [f"{slug}/{locale}.md", page]
    return [page]


def _write_json(page: Mapping[str, Any]) -> bytes:
    return orjson.dumps(page, option=orjson.OPT_INDENT_2)


def _configured_storage() -> BlogStorage:
    storage = current_backends().blog_storage
    if storage is None:
        raise StorageUnavailable("BLOG_STORAGE_URL is not set")
    return storage
