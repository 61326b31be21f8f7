"""Exports pages for Next.js content collections and Eleventy, such as `shoes/pt-BR.md`.

Has no side effects.
"""

from __future__ import annotations

import re
from typing import ClassVar

from monitoring.articles.exports.pages import (
    LOCALE,
    StoredPage,
    Value,
    find_changed_at,
    find_date,
    find_description,
    find_image,
    find_tags,
    find_text,
    find_title,
    write_front_matter,
)


class CollectionExport:
    """Markdown with front matter that fits a collection schema.

    The front matter has no `slug`, because Astro would use it as the entry id. Entry ids must be unique,
    whereas all locales of an article share one slug.
    """

    files: ClassVar[re.Pattern[str]] = re.compile(rf"{LOCALE}\.md")

    def name_file(self, locale: str) -> str:
        """Return the locale's file name."""
        return f"{locale}.md"

    def write_file(self, page: StoredPage) -> str:
        """Return a page as Markdown with front matter."""
        return write_front_matter(self._describe(page), self._write_text(page))

    def _write_text(self, page: StoredPage) -> str:
        return find_text(page)

    def _describe(self, page: StoredPage) -> dict[str, Value]:
        image, image_alt = find_image(page)
        return {
            "title": find_title(page),
            "description": find_description(page),
            "lang": page["locale"],
            "translationKey": page["slug"],
            "date": find_date(page),
            "lastmod": find_changed_at(page),
            "tags": find_tags(page),
            "image": image,
            "image_alt": image_alt,
            "article_id": page["article_id"],
            "revision": page["revision"],
            "draft": page["is_demonstration"] or None,
        }


class EleventyExport(CollectionExport):
    """Exports a collection for Eleventy, which is prevented from running templates in publishers' content.

    By default, Eleventy renders Markdown with Liquid first, so the front matter disables that. Eleventy also
    creates a collection for each entry in `tags`, which fails for names such as `constructor`. So the tags
    are exported in the field `keywords`.
    """

    def _describe(self, page: StoredPage) -> dict[str, Value]:
        described = super()._describe(page)
        keywords = described.pop("tags")
        return {**described, "keywords": keywords, "templateEngineOverride": "md"}
