"""StoredPage bundles of Hugo, translated by file name: `shoes/index.pt-br.md`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from monitoring.articles.exports.pages import (
    LOCALE,
    StoredPage,
    find_changed_at,
    find_date,
    find_description,
    find_image,
    find_tags,
    find_text,
    find_title,
    write_front_matter,
)

_OPENING = re.compile(r"\{\{([<%])")
_CLOSINGS = {"<": ">}}", "%": "%}}"}
_REFERENCES = {"<": "{{&lt;", "%": "{{&#37;"}


class HugoExport:
    """Markdown with Hugo's own names in its front matter."""

    files: ClassVar[re.Pattern[str]] = re.compile(rf"index\.{LOCALE}\.md")

    def name_file(self, locale: str) -> str:
        """Return the file's name. Hugo's language codes are in lower case; others give English pages."""
        return f"index.{locale.lower()}.md"

    def write_file(self, page: StoredPage) -> str:
        """Write a page. What Hugo would take for a shortcode is text."""
        image, image_alt = find_image(page)
        front_matter = {
            "title": find_title(page),
            "description": find_description(page),
            "slug": page["slug"],
            "translationKey": page["slug"],
            "date": find_date(page),
            "lastmod": find_changed_at(page),
            "tags": find_tags(page),
            "images": [image] if image else None,
            "image_alt": image_alt,
            "article_id": page["article_id"],
            "revision": page["revision"],
            "draft": page["is_demonstration"] or None,
        }
        return write_front_matter(front_matter, escape_shortcodes(find_text(page)))


def escape_shortcodes(text: str) -> str:
    """Escape shortcodes, since an unknown one fails the build of the whole site.

    `{{< x >}}` becomes `{{</* x */>}}`, which Hugo prints without the signs of a comment. An opening without
    an end becomes a character reference.
    """
    return "".join(_escaped(text))


def _escaped(text: str) -> Iterator[str]:
    last_closings = {sign: text.rfind(closing) for sign, closing in _CLOSINGS.items()}
    position = 0
    while opening := _OPENING.search(text, position):
        sign, start = opening[1], opening.end()
        yield text[position : opening.start()]
        if last_closings[sign] < start:
            yield _REFERENCES[sign]
            position = start
        else:
            end = text.index(_CLOSINGS[sign], start)
            position = end + len(_CLOSINGS[sign])
            yield f"{opening[0]}/*{text[start:end]}*/{_CLOSINGS[sign]}"
    yield text[position:]
