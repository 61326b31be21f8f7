"""The blog storage layout: one folder per article, one file per locale. See docs/blog-storage.md."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack

import orjson
from tortoise.backends.base.client import BaseDBAsyncClient

from monitoring.articles.exports import EXPORTS
from monitoring.articles.exports.pages import LOCALE
from monitoring.articles.exports.protocol import Export
from monitoring.articles.models import Article
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.errors import StorageUnavailable
from monitoring.contract.timestamps import write_timestamp

if TYPE_CHECKING:  # these imports would load a library
    from monitoring.backends.objects import BlogStorage, Version

Versions: TypeAlias = "Mapping[str, Version]"  # by path

SOURCE_LOCALE = "en"
TOMBSTONE = "gone.json"

_JSON_PAGE = re.compile(rf"{LOCALE}\.json")


class Translated(TypedDict, total=False):
    """The fields of a page that describe how it was translated. Empty for the source locale."""

    engine: str
    is_demonstration: bool
    untranslated_segments: int
    corrected_segments: int
    translated_at: datetime
    links: Sequence[Mapping[str, Any]]
    heading_ids: Sequence[str]


@asynccontextmanager
async def page_transaction() -> AsyncIterator[BaseDBAsyncClient]:
    """Wait for a slot to write to the blog storage, then begin a transaction that stores pages.

    Raises `StorageUnavailable`.
    """
    async with _configured_storage().turn(), transaction() as connection:
        yield connection


async def find_versions(slug: str, locale: str) -> Versions:
    """Return the versions of a locale's files, keyed by path, for `put_page`. Raises `StorageUnavailable`."""
    storage = _configured_storage()
    return {path: await storage.find_version(path) for path in _paths(slug, locale)}


async def find_missing_locales(slug: str, locales: Sequence[str]) -> set[str]:
    """Return those of `locales` in which the article lacks a file. Raises `StorageUnavailable`."""
    stored = set(await _configured_storage().list(slug))
    return {locale for locale in locales if not stored.issuperset(_paths(slug, locale))}


async def find_page(slug: str, locale: str) -> dict[str, Any] | None:
    """Return the stored page of a locale as written by `put_page`, or None if it is missing or invalid.

    A page may be invalid because other programs can write to the storage, too. Raises `StorageUnavailable`.
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


async def put_page(
    article: Article,
    locale: str,
    submission: Mapping[str, Any],
    *,
    replacing: Versions,
    **translated: Unpack[Translated],
) -> None:
    """Store the page of one locale, replacing the file versions in `replacing`. Raises `StorageUnavailable`.

    The caller reads the versions before it checks in the database that it may still write the page. If the
    caller then stalls and loses its database lock, another process replaces these versions, and the storage
    rejects the late write.
    """
    await replace_page(_describe_page(article, locale, submission, **translated), replacing=replacing)


async def replace_page(page: Mapping[str, Any], *, replacing: Versions) -> None:
    """Store a page, replacing the file versions in `replacing`. Raises `StorageUnavailable`."""
    storage = _configured_storage()
    for path in _paths(page["slug"], page["locale"]):
        content = await asyncio.to_thread(_write_page, path, page)
        await storage.put(path, content, replacing[path])


async def remove_pages(article: Article) -> None:
    """Replace an article's files with a tombstone, `gone.json`. Raises `StorageUnavailable`.

    The tombstone is written first, so that readers always find either the files or the tombstone.
    """
    storage, tombstone = _configured_storage(), f"{article.slug}/{TOMBSTONE}"
    stored = await storage.list(article.slug)
    gone = {
        "article_id": str(article.id),
        "slug": article.slug,
        "status": article.status,
        "gone_at": write_timestamp(article.withdrawn_at),
    }
    await storage.put(tombstone, _write_json(gone))
    await storage.delete(*(path for path in stored if path != tombstone and _is_page(path)))
    await storage.remove_drafts(article.slug)


async def remove_other_exports(slug: str) -> None:
    """Remove an article's files in formats other than `BLOG_EXPORT`. Raises `StorageUnavailable`.

    These files would no longer be updated. Files in the current layout stay.
    """
    storage, export = _configured_storage(), _chosen_export()
    for path in await storage.list(slug):
        name = _name_of(path)
        is_current = _JSON_PAGE.fullmatch(name) or (export and export.files.fullmatch(name))
        if _is_page(path) and not is_current:
            await storage.delete(path)


async def remove_tombstone(slug: str) -> None:
    """Remove the tombstone of a republished article. Raises `StorageUnavailable`."""
    await _configured_storage().delete(f"{slug}/{TOMBSTONE}")


def _describe_page(
    article: Article, locale: str, submission: Mapping[str, Any], **translated: Unpack[Translated]
) -> dict[str, Any]:
    return {
        "article_id": str(article.id),
        "slug": article.slug,
        "locale": locale,
        "source_locale": SOURCE_LOCALE,
        "revision": article.revision,
        "received_at": write_timestamp(article.updated_at),
        "translated_at": write_timestamp(translated.get("translated_at")),
        "engine": translated.get("engine"),
        "is_demonstration": translated.get("is_demonstration", False),
        "untranslated_segments": translated.get("untranslated_segments", 0),
        "corrected_segments": translated.get("corrected_segments", 0),
        **{name: value for name, value in translated.items() if name in ("links", "heading_ids")},
        "delivery": submission,
    }


def _write_page(path: str, page: Mapping[str, Any]) -> bytes:
    export = _chosen_export()
    return _write_json(page) if export is None or path.endswith(".json") else export.write_file(page).encode()


def _paths(slug: str, locale: str) -> list[str]:
    """Return a locale's file paths, in the order of writing.

    The JSON file is last, so when it is stored, the export of the same revision is already stored.
    """
    page, export = f"{slug}/{locale}.json", _chosen_export()
    return [f"{slug}/{export.name_file(locale)}", page] if export else [page]


def _chosen_export() -> Export | None:
    return EXPORTS.get(current_backends().settings.blog_export)


def _is_page(path: str) -> bool:
    """Return whether a path has the file name of a page in any layout."""
    layouts = (_JSON_PAGE, *(export.files for export in EXPORTS.values()))
    return any(files.fullmatch(_name_of(path)) for files in layouts)


def _name_of(path: str) -> str:
    """Return a file's name without its article's folder."""
    return path.partition("/")[2]


def _write_json(page: Mapping[str, Any]) -> bytes:
    return orjson.dumps(page, option=orjson.OPT_INDENT_2)


def _configured_storage() -> BlogStorage:
    storage = current_backends().blog_storage
    if storage is None:
        raise StorageUnavailable("BLOG_STORAGE_URL is not set")
    return storage
