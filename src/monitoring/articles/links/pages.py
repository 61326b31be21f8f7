"""The links in a page of the blog storage, and how their addresses are exchanged. Pure."""

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

# More than any article has: the rest of them stay as they are.
MOST_LINKS = 1000

_NOT_IN_MARKDOWN = str.maketrans({"(": "%28", ")": "%29", "|": "%7C"})


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link in a text of `article`: where its address stands now, in characters, and the publisher's own."""

    field: str
    start: int
    end: int
    address: str


def find_page_links(payload: Mapping[str, Any]) -> list[PageLink]:
    """Find the links in the texts of a payload whose addresses are the publisher's."""
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
    """Read the links that a page names. Others may write into the storage too: some may make no sense."""
    article, links = page["delivery"]["article"], list[PageLink]()
    for told in page.get("links") or ():
        match told:
            case {"field": str(field), "start": int(start), "end": int(end), "address": str(address)}:
                text = article.get(field)
                if isinstance(text, str) and 0 <= start <= end <= len(text):
                    links.append(PageLink(field, start, end, address))
    return links


def write_links(links: Sequence[PageLink]) -> list[dict[str, Any]]:
    """Write links as a page names them."""
    return [asdict(link) for link in links]


def with_addresses(
    payload: Mapping[str, Any], links: Sequence[PageLink], addresses: Mapping[str, str]
) -> tuple[dict[str, Any], list[PageLink]]:
    """Give links the address that belongs to their own, or their own back. Returns where they stand then."""
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
    """Write an address so that it stands in HTML and in Markdown."""
    return html.escape(address).translate(_NOT_IN_MARKDOWN)
