"""Finds the links in a blog storage page and replaces their addresses. Has no side effects."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from monitoring.articles.field_names import TEXTS
from monitoring.articles.translation.article import texts_for_readers
from monitoring.articles.translation.fenced_article import unwrapped
from monitoring.articles.translation.link_places import find_links

# The maximum number of links per article, which no real article reaches. Further links stay unchanged.
MOST_LINKS = 1000

_NOT_IN_MARKDOWN = str.maketrans({"(": "%28", ")": "%29", "|": "%7C"})


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link in one of an article's texts. `field` is the name of the field with the text.

    `start` and `end` are the span of the address in characters. `address` is the address that the publisher
    sent.
    """

    field: str
    start: int
    end: int
    address: str


def find_page_links(payload: Mapping[str, Any]) -> list[PageLink]:
    """Return the links in a payload's texts. Their addresses must be the ones that the publisher sent."""
    texts = {
        str(path[1]): found
        for path, found in texts_for_readers(payload).items()
        if len(path) == len(("article", "name")) and path[1] in TEXTS
    }
    return [
        PageLink(field, place.start, place.end, place.raw)
        for field, (text_format, text) in texts.items()
        if unwrapped(text) == text
        for place in find_links(text, text_format)
    ][:MOST_LINKS]


def read_links(page: Mapping[str, Any]) -> list[PageLink]:
    """Return the links listed in a page. Skip invalid links, which other programs may have written."""
    article, links = page["delivery"]["article"], list[PageLink]()
    for told in page.get("links") or ():
        match told:
            case {"field": str(field), "start": int(start), "end": int(end), "address": str(address)}:
                text = article.get(field)
                if isinstance(text, str) and 0 <= start <= end <= len(text):
                    links.append(PageLink(field, start, end, address))
    return links


def write_links(links: Sequence[PageLink]) -> list[dict[str, Any]]:
    """Serialize links for a page."""
    return [asdict(link) for link in links]


def with_addresses(
    payload: Mapping[str, Any], links: Sequence[PageLink], addresses: Mapping[str, str]
) -> tuple[dict[str, Any], list[PageLink]]:
    """Replace link addresses. `addresses` maps the addresses that the publisher sent to new addresses.

    Links without a new address get the publisher's address. Returns the payload, and the links with their new
    positions. Overlapping links are dropped.
    """
    article, moved = dict(payload["article"]), list[PageLink]()
    for field, of_field in groupby(sorted(links, key=attrgetter("field", "start")), attrgetter("field")):
        text, position = article[field], 0
        written = ""
        for link in of_field:
            if link.start < position:
                continue
            address = addresses.get(link.address)
            raw = link.address if address is None else write_address(address)
            written += text[position : link.start]
            moved.append(replace(link, start=len(written), end=len(written) + len(raw)))
            written += raw
            position = link.end
        article[field] = written + text[position:]
    return {**payload, "article": article}, moved


def write_address(address: str) -> str:
    """Return an address escaped for both HTML and Markdown."""
    return html.escape(address).translate(_NOT_IN_MARKDOWN)
