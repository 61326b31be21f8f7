"""Keeps the sitemap and the feeds up to date. They are written after changes, by one process at a time."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from tortoise.exceptions import IntegrityError

from monitoring.articles.links.following import follow_changes
from monitoring.articles.models import SiteFiles
from monitoring.articles.site.addresses import Addresses
from monitoring.articles.site.feeds import FeedEntry, name_feed, read_entry, write_feed
from monitoring.articles.site.listing import find_newest, hash_state, page_through_site
from monitoring.articles.site.sitemap import SitemapPart, write_index, write_urls
from monitoring.articles.storage import SOURCE_LOCALE, find_page
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.errors import StorageChanged
from monitoring.backends.leases import Claim, begin_attempt, is_due

if TYPE_CHECKING:  # these imports would load a library
    from monitoring.backends.objects import BlogStorage

SITEMAP = "sitemap.xml"
FEED_ENTRIES = 50
LEASE = timedelta(seconds=60)


class ClaimLostError(Exception):
    """Another process took over because this one did not renew its claim in time."""


@dataclass(frozen=True, slots=True)
class SiteFilesClaim(Claim[SiteFiles]):
    """The right to write the site-wide files."""

    storage: BlogStorage

    async def put(self, name: str, content: bytes) -> None:
        """Store a file. Raises `ClaimLostError` or `StorageUnavailable`.

        The file's version is read before the claim is checked. So if this process stalls and another one
        writes the file, the storage rejects the late write.
        """
        version = await self.storage.find_version(name)
        if not await self.held_row().exists():
            raise ClaimLostError
        await self.storage.put(name, content, version)


@dataclass(slots=True)
class SiteWriter:
    """Writes the site-wide files. It caches the current feed entries, so that it reads only new pages."""

    addresses: Addresses
    _entries: dict[str, FeedEntry] = field(default_factory=dict)

    async def write_if_changed(self) -> bool:
        """Write all files if anything changed since they were written. Returns whether it wrote them.

        Raises `StorageUnavailable`.
        """
        storage = current_backends().blog_storage
        if storage is None:
            return False
        began_at, state = current_backends().clock.now(), await hash_state(self.addresses.pattern)
        claim = await _claim(state, storage)
        if claim is None:
            return False
        try:
            async with claim.renewed(LEASE):
                await follow_changes(claim.row.links_followed_at)
                await self._write_sitemap(claim)
                await self._write_feeds(claim)
        except (ClaimLostError, StorageChanged):
            return False  # another process is writing them
        except BaseException:
            await claim.give_back()
            raise
        ended_at = current_backends().clock.now()
        return await claim.end(written=state, links_followed_at=began_at, due_at=ended_at, attempts=0)

    async def _write_sitemap(self, claim: SiteFilesClaim) -> None:
        part, names = SitemapPart(), list[str]()
        async for slug, changed_at in page_through_site():
            urls = write_urls(slug, changed_at, SOURCE_LOCALE, self.addresses)
            if not part.has_room(urls, len(changed_at)):
                names.append(_name_part(len(names) + 1))
                await claim.put(names[-1], part.write())
                part = SitemapPart()
            part.add(urls, len(changed_at))
        if names:
            names.append(_name_part(len(names) + 1))
            await claim.put(names[-1], part.write())
        await claim.put(SITEMAP, write_index(names, self.addresses) if names else part.write())
        await _remove_parts_from(len(names) + 1, claim.storage)

    async def _write_feeds(self, claim: SiteFilesClaim) -> None:
        remembered, self._entries = self._entries, {}
        for locale in (SOURCE_LOCALE, *current_backends().settings.locales):
            entries = []
            for slug, mark in await find_newest(locale, FEED_ENTRIES):
                key = f"{locale} {mark}"
                if entry := remembered.get(key) or await _read_entry(slug, locale):
                    entries.append(entry)
                    self._entries[key] = entry
            if entries:
                await claim.put(name_feed(locale), write_feed(locale, entries, self.addresses))
            else:
                await claim.storage.delete(name_feed(locale))


async def _claim(state: str, storage: BlogStorage) -> SiteFilesClaim | None:
    """Claim the site-wide files. Return None if they are up to date or another process is writing them."""
    now = current_backends().clock.now()
    if not await SiteFiles.exists():
        with suppress(IntegrityError):  # another process was faster
            await SiteFiles.create(id=1, due_at=now)
    async with SiteFilesClaim.beginning(SiteFiles.all()) as claim_id, transaction():
        stale = SiteFiles.filter(is_due(now, LEASE)).exclude(written=state)
        row = await stale.select_for_update(skip_locked=True).first()
        if row is None:
            return None
        await begin_attempt(row, claim_id, now + LEASE)
        return SiteFilesClaim(claim_id, row, storage)


async def _read_entry(slug: str, locale: str) -> FeedEntry | None:
    page = await find_page(slug, locale)
    return read_entry(page) if page else None


async def _remove_parts_from(number: int, storage: BlogStorage) -> None:
    """Remove the sitemap files from `number` on, which are left over from when the site had more pages."""
    while await storage.get(_name_part(number)) is not None:
        await storage.delete(_name_part(number))
        number += 1


def _name_part(number: int) -> str:
    return f"sitemap-{number}.xml"
