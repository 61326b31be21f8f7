"""Finds images in Markdown, parsing it both as plain CommonMark and with the rules for other dialects."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from markdown_it.token import Token

from monitoring.articles.translation.markdown_in_html import is_html
from monitoring.articles.translation.markdown_places import Lines
from monitoring.articles.translation.markdown_spans import parse_blocks, parse_inline

_WORDS = frozenset(("text", "text_special", "code_inline", "image"))


class Image(NamedTuple):
    """A Markdown image; `words` is its alternative text."""

    address: str
    title: str
    words: str


def find_images(source: str) -> list[tuple[int, int, Image | None]]:
    """Return the start, the end and the content of each image, in order. Images may be nested.

    A paragraph with an unrealistic amount of markup is not parsed. It counts as one image, whose content is
    None.
    """
    found = {place for has_dialects in (True, False) for place in _images(source, has_dialects=has_dialects)}
    return sorted(found, key=lambda place: (place[0], -place[1]))


def _images(source: str, *, has_dialects: bool) -> Iterator[tuple[int, int, Image | None]]:
    lines = Lines(source)
    environment: dict[str, Any] = {}
    tokens = parse_blocks(source, environment, has_dialects=has_dialects)
    floor = 0
    for block, token in enumerate(tokens):
        if token.type != "inline" or "![" not in token.content or is_html(token):
            continue
        children = parse_inline(token.content, environment, has_dialects=has_dialects)
        is_cell = tokens[block - 1].tag in ("td", "th")
        places = lines.places(token, floor if is_cell else None)
        if children is None or not places:
            yield (*lines.span(token), None)
            continue
        for child in children:
            if child.type == "image":
                start, end = child.meta["span"]
                yield places.place(start), places.place(end), _read(child)
        floor = places.place(len(token.content))


def _read(token: Token) -> Image:
    words = (child.content if child.type in _WORDS else " " for child in token.children or ())
    return Image(str(token.attrs.get("src", "")), str(token.attrs.get("title", "")), "".join(words))
