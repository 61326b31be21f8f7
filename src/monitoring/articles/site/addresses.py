"""Builds the addresses of pages and files on the site from `SITE_PAGE_URL`. Has no side effects."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses on a site. `pattern` is the value of `SITE_PAGE_URL`."""

    pattern: str

    @property
    def host(self) -> str:
        """Return the site's host name."""
        return urlsplit(self.pattern).netloc

    def of_page(self, locale: str, slug: str) -> str:
        """Return the address of an article's page."""
        address = self.pattern.replace("{locale}", locale).replace("{lowercase_locale}", locale.lower())
        return address.replace("{slug}", slug)

    def of_file(self, name: str) -> str:
        """Return the address of a file in the site root, which is the folder above the first placeholder."""
        return f"{self.pattern.partition('{')[0].rpartition('/')[0]}/{name}"
