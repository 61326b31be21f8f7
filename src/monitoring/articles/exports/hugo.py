"""Exports pages as Hugo page bundles, with the locale in the file name: `shoes/index.pt-br.md`.

Has no side effects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar
from urllib.parse import unquote

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
from monitoring.articles.translation.content_formats import TextFormat
from monitoring.articles.translation.link_places import find_links
from monitoring.articles.translation.memory_budget import MOST_BYTES, predict_bytes

_OPENING = re.compile(r"\{\{([<%])")
_CLOSINGS = {"<": ">}}", "%": "%}}"}
_REFERENCES = {"<": "{{&lt;", "%": "{{&#37;"}


class HugoExport:
    """Markdown with Hugo's front matter fields."""

    files: ClassVar[re.Pattern[str]] = re.compile(rf"index\.{LOCALE}\.md")

    def name_file(self, locale: str) -> str:
        """Return the locale's file name, with a lower-case language code.

        Hugo does not recognize a language code with capital letters, and treats a file with such a code as an
        English page.
        """
        return f"index.{locale.lower()}.md"

    def write_file(self, page: StoredPage) -> str:
        """Return a page as Markdown with front matter. Hugo shortcodes are escaped."""
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
        text = _pin_headings(find_text(page), page.get("heading_ids") or ())
        return write_front_matter(front_matter, escape_shortcodes(text))


def _pin_headings(text: str, ids: Sequence[str]) -> str:
    """Return the text with the English heading ids added to its headings, as in `## Palabras {#words}`.

    Otherwise Hugo would derive ids from the translated headings. Links to the text's headings are updated.
    """
    if not ids or predict_bytes(text, is_markdown=True) > MOST_BYTES:
        return text
    from monitoring.articles.translation.markdown_anchors import find_headings  # noqa: PLC0415 - 2 MiB

    headings = find_headings(text)
    if len(headings) != len(ids):
        return text
    pinned = {
        heading.anchor: id_
        for heading, id_ in zip(headings, ids, strict=True)
        if heading.end is not None and id_ and heading.anchor != id_
    }
    of_headings = [
        (heading.end, heading.end, f" {{#{pinned[heading.anchor]}}}")
        for heading in headings
        if heading.end is not None and heading.anchor in pinned
    ]
    of_links = [
        (link.start, link.end, f"#{id_}")
        for link in find_links(text, TextFormat.MARKDOWN)
        if link.raw.startswith("#") and (id_ := pinned.get(unquote(link.raw[1:])))
    ]
    return "".join(_changed(text, sorted(of_headings + of_links)))


def _changed(text: str, changes: Iterable[tuple[int, int, str]]) -> Iterator[str]:
    position = 0
    for start, end, written in changes:
        yield text[position:start]
        yield written
        position = end
    yield text[position:]


def escape_shortcodes(text: str) -> str:
    """Return the text with shortcodes escaped, because an unknown shortcode makes the site's build fail.

    `{{< x >}}` becomes `{{</* x */>}}`, which Hugo prints without the comment markers. In an unclosed
    shortcode, `<` or `%` becomes a character reference.
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
