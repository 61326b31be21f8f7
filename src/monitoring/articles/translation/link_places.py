"""Finds the positions of link addresses in a text that a site renders."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import NamedTuple

from monitoring.articles.translation.content_formats import TextFormat
from monitoring.articles.translation.front_matter import front_matter_length
from monitoring.articles.translation.html_tokens import TokenKind, tokenize
from monitoring.articles.translation.memory_budget import MOST_BYTES, predict_bytes


class LinkPlace(NamedTuple):
    """The start and end of a link address in a text, in characters, and its raw text."""

    start: int
    end: int
    raw: str

    def moved(self, offset: int) -> LinkPlace:
        """Return the position shifted by `offset` characters."""
        return LinkPlace(self.start + offset, self.end + offset, self.raw)


def find_links(text: str, text_format: TextFormat) -> list[LinkPlace]:
    """Return the positions of link addresses, in order. Images and code are ignored.

    Returns an empty list if parsing the text would take too much memory.
    """
    if not text_format.is_markdown:
        return list(links_in_html(text)) if "<a" in text.lower() else []
    if not any(sign in text for sign in ("](", "]:", "<a", "<A")):
        return []
    if predict_bytes(text, is_markdown=True) > MOST_BYTES:
        return []
    from monitoring.articles.translation.markdown_links import links_in_markdown  # noqa: PLC0415 - 2 MiB

    start = front_matter_length(text)
    found = links_in_markdown(text[start:], is_mdx=text_format is TextFormat.MDX)
    return sorted({place.moved(start) for place in found})


def links_in_html(source: str) -> Iterator[LinkPlace]:
    """Yield the positions of `<a href>` addresses."""
    offset = 0
    for token in tokenize(source):
        if token.kind is TokenKind.START and token.name == "a":
            for attribute in token.attributes():
                quotes = attribute.lastgroup or "name"
                if attribute["name"].lower() == "href" and quotes != "name" and attribute[quotes]:
                    start, end = attribute.span(quotes)
                    yield LinkPlace(offset + start, offset + end, attribute[quotes])
        offset += len(token.raw)


def read_address(raw: str) -> str:
    """Return a raw address from HTML or Markdown, with its character references decoded."""
    return html.unescape(raw).strip()
