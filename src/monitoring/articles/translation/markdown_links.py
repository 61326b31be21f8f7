"""Finds link addresses in Markdown, with the rules for other dialects."""

import re
from collections.abc import Iterator
from typing import Any

from markdown_it.token import Token

from monitoring.articles.translation.link_places import LinkPlace, links_in_html
from monitoring.articles.translation.markdown_in_html import HTML_OPEN
from monitoring.articles.translation.markdown_places import Lines
from monitoring.articles.translation.markdown_spans import parse_blocks, parse_inline

# An unambiguous address. It has no escapes or brackets, which other parsers may treat differently.
_ADDRESS = r"<?(?P<address>[^\s<>()\\|]++)(?=[\s>)]|\Z)"
_TARGET = re.compile(rf"\]\(\s*+{_ADDRESS}")
_DEFINITION = re.compile(rf"\]:\s{{0,20}}+{_ADDRESS}")


def links_in_markdown(source: str, *, is_mdx: bool) -> Iterator[LinkPlace]:
    """Yield the positions of addresses in links, definitions and HTML."""
    lines = Lines(source)
    environment: dict[str, Any] = {}
    tokens = parse_blocks(source, environment, is_mdx=is_mdx)
    floor = 0
    for block, token in enumerate(tokens):
        start, end = lines.span(token)
        if token.type == "definition" and (target := _DEFINITION.search(source, start, end)):
            yield LinkPlace(*target.span("address"), target["address"])
        elif token.type in ("html_block", HTML_OPEN):
            yield from (link.moved(start) for link in links_in_html(source[start:end]))
        elif token.type == "inline":
            is_cell = tokens[block - 1].tag in ("td", "th")
            children = parse_inline(token.content, environment) or []
            if places := lines.places(token, floor if is_cell else None):
                for link in _links_of_paragraph(token.content, children):
                    place = places.place(link.start)
                    if source.startswith(link.raw, place):
                        yield LinkPlace(place, place + len(link.raw), link.raw)
                floor = places.place(len(token.content))


def _links_of_paragraph(content: str, tokens: list[Token]) -> Iterator[LinkPlace]:
    for token in tokens:
        if token.type == "html_inline":
            start, end = token.meta["span"]
            yield from (link.moved(start) for link in links_in_html(content[start:end]))
        elif token.type == "link_close" and token.info != "auto":
            start, end = token.meta["span"]
            if target := _TARGET.match(content, start, end):
                yield LinkPlace(*target.span("address"), target["address"])
