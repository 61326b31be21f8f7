"""Updates links in translated pages, so that they lead to translations of other articles.

Links are updated when a page is stored or read, and after the linked articles change. Translation addresses
are built from `SITE_PAGE_URL`. Without this setting, links stay unchanged.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from tortoise.expressions import Q, Subquery

from monitoring.articles.exports.pages import find_address
from monitoring.articles.links.addresses import FOLDER_SIGN, key_of_folder, keys_of_link
from monitoring.articles.links.pages import PageLink, read_links, with_addresses, write_links
from monitoring.articles.models import Article, ArticleLink, PublicationStatus, Translation
from monitoring.articles.site.addresses import Addresses
from monitoring.articles.storage import find_page, find_versions, page_transaction, replace_page
from monitoring.articles.translation.link_places import read_address
from monitoring.articles.translation_memory import batches
from monitoring.backends.current import current_backends
from monitoring.backends.errors import StorageChanged

# A change becomes visible when its transaction commits, which may be this long after the change's timestamp.
UNSEEN_CHANGES = timedelta(minutes=2)


async def note_links(article: Article, links: Sequence[PageLink]) -> bool:
    """Store the keys of articles that a revision may link to, replacing those of the previous revision.

    Returns whether there are any keys.
    """
    found = _keys(article.payload, {link.address for link in links})
    keys = {key for of_address in found.values() for key in of_address}
    rows = await ArticleLink.filter(article_id=article.id).only("key")
    known = {row.key for row in rows}
    for batch in batches(sorted(known - keys)):
        await ArticleLink.filter(article_id=article.id, key__in=batch).delete()
    for batch in batches(sorted(keys - known)):
        new = [ArticleLink(article_id=article.id, key=key) for key in batch]
        await ArticleLink.bulk_create(new, ignore_conflicts=True)
    return bool(keys)


async def find_targets(payload: Mapping[str, Any], links: Sequence[PageLink], locale: str) -> dict[str, str]:
    """Map the address of each link to the address of the linked article's translation into `locale`.

    A link address is omitted if it does not lead to exactly one article, or if that article has no
    translation into `locale`.
    """
    keys = _keys(payload, {link.address for link in links})
    articles = await _find_articles({key for of_address in keys.values() for key in of_address})
    translated = Translation.filter(_is_stored(), locale=locale, article_id__in=[*articles.values()])
    slugs = dict(await translated.values_list("article_id", "article__slug"))
    site = _site()
    found: dict[str, str] = {}
    for address, of_address in keys.items():
        article_id = next((articles[key] for key in of_address if key in articles), None)
        if site and article_id in slugs:
            fragment = urlsplit(read_address(address)).fragment
            page = site.of_page(locale, slugs[article_id])
            found[address] = f"{page}#{fragment}" if fragment else page
    return found


async def follow_links_of(page: Mapping[str, Any], locale: str) -> dict[str, Any]:
    """Return a stored page with its links updated. The result equals `page` if no link target has changed."""
    links = read_links(page) if _site() else []
    if not links:
        return dict(page)
    targets = await find_targets(page["delivery"], links, locale)
    delivery, moved = with_addresses(page["delivery"], links, targets)
    return {**page, "links": write_links(moved), "delivery": delivery}


async def follow_changes(since: datetime | None) -> None:
    """In stored pages, update the links to articles that have changed since `since`. Idempotent.

    If `since` is None, all links to other articles are updated. If `StorageUnavailable` is raised, some pages
    may be outdated.
    """
    async for article_ids in _find_linking(since and since - UNSEEN_CHANGES):
        for article_id in article_ids:
            rows = Translation.filter(_is_stored(), article_id=article_id)
            for locale in await rows.order_by("locale").values_list("locale", flat=True):
                await _follow_page(article_id, str(locale))


async def _follow_page(article_id: UUID, locale: str) -> None:
    article = await Article.get(id=article_id).only("id", "slug")
    page = await find_page(article.slug, locale)
    if page is None or page == await follow_links_of(page, locale):
        return
    versions = await find_versions(article.slug, locale)
    async with page_transaction():
        # The row is locked, so that until the page is stored, no worker stores a newer page and nobody
        # withdraws the article.
        rows = Translation.filter(_is_stored(), article_id=article_id, locale=locale)
        held = await rows.select_for_update().get_or_none().only("id")
        page = await find_page(article.slug, locale) if held else None
        if page:
            with suppress(StorageChanged):  # a worker has just stored a newer page
                await replace_page(await follow_links_of(page, locale), replacing=versions)


async def _find_linking(since: datetime | None) -> AsyncIterator[list[UUID]]:
    """Yield ids of published articles that link to changed articles, in batches that may overlap."""
    changed = Article.all()
    if since:
        translated = Translation.filter(translated_at__gte=since).values("article_id")
        changed = changed.filter(Q(updated_at__gte=since) | Q(id__in=Subquery(translated)))
    keys = {
        key
        for address, slug in await changed.values_list("address", "slug")
        for key in (address, key_of_folder(str(slug)))
        if key
    }
    for batch in batches(sorted(keys)):
        linking = ArticleLink.filter(key__in=batch, article__status=PublicationStatus.PUBLISHED)
        yield list(dict.fromkeys(row.article_id for row in await linking.only("article_id")))


async def _find_articles(keys: Collection[str]) -> dict[str, UUID]:
    """Map keys to article ids. A key is omitted unless it matches exactly one published article."""
    found: dict[str, set[UUID]] = {}
    for batch in batches(sorted(keys)):
        folders = [key.removeprefix(FOLDER_SIGN) for key in batch if key.startswith(FOLDER_SIGN)]
        meant = Article.filter(Q(address__in=list(batch)) | Q(slug__in=folders))
        published = meant.filter(status=PublicationStatus.PUBLISHED)
        for article_id, address, slug in await published.values_list("id", "address", "slug"):
            for key in {address, key_of_folder(slug)}.intersection(batch):
                found.setdefault(key, set()).add(article_id)
    return {key: next(iter(ids)) for key, ids in found.items() if len(ids) == 1}


def _is_stored() -> Q:
    """Return a filter for translations with a stored page for readers, even if its revision is outdated."""
    is_there = Q(translated_at__isnull=False) | Q(engine__isnull=False)
    return is_there & Q(is_demonstration=False, locale__in=current_backends().settings.locales)


def _keys(payload: Mapping[str, Any], addresses: Collection[str]) -> dict[str, list[str]]:
    """Map each raw link address to article keys. The result is empty if `SITE_PAGE_URL` is not set."""
    site = _site()
    if site is None:
        return {}
    base = find_address({"delivery": payload})
    return {address: list(keys_of_link(read_address(address), base, site)) for address in addresses}


def _site() -> Addresses | None:
    pattern = current_backends().settings.site_page_url
    return Addresses(pattern) if pattern else None
