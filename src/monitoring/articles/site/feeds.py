"""Renders Atom feeds (RFC 4287), one for each locale. Has no side effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from monitoring.articles.exports.pages import find_changed_at, find_date, find_description, find_title
from monitoring.articles.site.addresses import Addresses
from monitoring.articles.site.xml import DECLARATION, write_text
from monitoring.contract.timestamps import write_timestamp


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """An article in a feed."""

    article_id: UUID
    slug: str
    title: str
    summary: str | None
    published_at: datetime
    changed_at: datetime


def read_entry(page: Mapping[str, Any]) -> FeedEntry:
    """Return the feed entry for a page of the blog storage."""
    return FeedEntry(
        UUID(page["article_id"]),
        page["slug"],
        find_title(page),
        find_description(page),
        find_date(page),
        find_changed_at(page),
    )


def name_feed(locale: str) -> str:
    """Return the file name of a locale's feed. The name has a dot, so no article folder has the same name."""
    return f"feed.{locale}.xml"


def write_feed(locale: str, entries: Sequence[FeedEntry], addresses: Addresses) -> bytes:
    """Return an Atom feed of `entries`, which must not be empty."""
    own_address = write_text(addresses.of_file(name_feed(locale)))
    head = (
        f'{DECLARATION}<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{locale}">\n'
        f"<id>{own_address}</id>\n"
        f"<title>{write_text(addresses.host)}</title>\n"
        f"<author><name>{write_text(addresses.host)}</name></author>\n"
        f"<updated>{write_timestamp(max(entry.changed_at for entry in entries))}</updated>\n"
        f'<link rel="self" type="application/atom+xml" href="{own_address}"/>\n'
    )
    return "".join(
        (head, *(_write_entry(entry, locale, addresses) for entry in entries), "</feed>\n")
    ).encode()


def _write_entry(entry: FeedEntry, locale: str, addresses: Addresses) -> str:
    page = write_text(addresses.of_page(locale, entry.slug))
    summary = f"<summary>{write_text(entry.summary)}</summary>\n" if entry.summary else ""
    return (
        "<entry>\n"
        f"<id>{uuid5(entry.article_id, locale).urn}</id>\n"
        f"<title>{write_text(entry.title)}</title>\n"
        f'<link rel="alternate" type="text/html" hreflang="{locale}" href="{page}"/>\n'
        f"<published>{write_timestamp(entry.published_at)}</published>\n"
        f"<updated>{write_timestamp(entry.changed_at)}</updated>\n"
        f"{summary}</entry>\n"
    )
