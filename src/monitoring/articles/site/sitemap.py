"""Renders sitemaps with the language versions of each page. Has no side effects.

The format is that of sitemaps.org, with Google's extension for "localized versions".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from monitoring.articles.site.addresses import Addresses
from monitoring.articles.site.xml import DECLARATION, write_text
from monitoring.contract.timestamps import write_timestamp

# The protocol allows 50,000 URLs and 50 MB per file. The size limit here is smaller, because the blog storage
# must store a file within four seconds.
MOST_URLS = 50_000
MOST_BYTES = 4 * 1024 * 1024

_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


@dataclass(slots=True)
class SitemapPart:
    """The pages in one sitemap file."""

    urls: list[bytes] = field(default_factory=list)
    size_bytes: int = 0
    url_count: int = 0

    def has_room(self, urls: bytes, url_count: int) -> bool:
        """Return whether these URLs still fit into the file. An empty file accepts any number of URLs."""
        fits = self.url_count + url_count <= MOST_URLS and self.size_bytes + len(urls) <= MOST_BYTES
        return fits or not self.urls

    def add(self, urls: bytes, url_count: int) -> None:
        """Add the URLs of an article."""
        self.urls.append(urls)
        self.size_bytes += len(urls)
        self.url_count += url_count

    def write(self) -> bytes:
        """Return the content of the file."""
        opening = f'{DECLARATION}<urlset {_NAMESPACE} xmlns:xhtml="http://www.w3.org/1999/xhtml">\n'
        return b"".join((opening.encode(), *self.urls, b"</urlset>\n"))


def write_urls(slug: str, changed_at: Mapping[str, datetime], source: str, addresses: Addresses) -> bytes:
    """Return an article's `<url>` elements, one for each locale in `changed_at`.

    `changed_at` maps each locale to the time of the last change of the page in that locale. Each element
    links to all language versions, including its own. The version in the locale `source` is also listed as
    `x-default`.
    """
    pages = {locale: write_text(addresses.of_page(locale, slug)) for locale in changed_at}
    links = "".join(
        f'<xhtml:link rel="alternate" hreflang="{locale}" href="{page}"/>\n'
        for locale, page in {**pages, "x-default": pages[source]}.items()
    )
    return "".join(
        f"<url>\n<loc>{page}</loc>\n<lastmod>{write_timestamp(changed_at[locale])}</lastmod>\n{links}</url>\n"
        for locale, page in pages.items()
    ).encode()


def write_index(names: Iterable[str], addresses: Addresses) -> bytes:
    """Return the sitemap index, which lists the sitemap files in `names`."""
    parts = (f"<sitemap><loc>{write_text(addresses.of_file(name))}</loc></sitemap>\n" for name in names)
    return f"{DECLARATION}<sitemapindex {_NAMESPACE}>\n{''.join(parts)}</sitemapindex>\n".encode()
