"""Markdown heading anchors, derived from the text as on GitHub and in compatible generators."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from markdown_it.token import Token

from monitoring.articles.translation.html_tokens import TokenKind, tokenize
from monitoring.articles.translation.markdown_in_html import HTML_CLOSE, HTML_OPEN
from monitoring.articles.translation.markdown_places import Lines
from monitoring.articles.translation.markdown_spans import parse_blocks, parse_inline

_HEADING_ELEMENTS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_KEPT_CATEGORIES = frozenset(("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"))
_LETTERS_AMONG_SYMBOLS = re.compile(
    "[\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189]"
)
_EXPLICIT_ID = re.compile(r"\{#([\w:.-]{1,200})[^{}]{0,200}\}\s*$")


def moved_anchors(source: str, rendered: str) -> dict[str, str]:
    """Map the anchor of each source heading to the anchor of the translated heading, if the two differ.

    Explicit anchors (`id`, `name`, `{#id}`) are omitted, because they do not change.
    """
    before, explicit = _anchors(source)
    after, _ = _anchors(rendered)
    if len(before) != len(after):
        return {}
    pairs = zip(before, after, strict=True)
    return {old: new for old, new in pairs if old != new and new and old not in explicit}


def slug(heading: str) -> str:
    """Return the anchor for a heading's text, like the package github-slugger."""
    kept = (char for char in heading.lower() if char in " -" or _is_kept(char))
    return "".join(kept).replace(" ", "-")


def _is_kept(char: str) -> bool:
    return unicodedata.category(char) in _KEPT_CATEGORIES or bool(_LETTERS_AMONG_SYMBOLS.match(char))


class Heading(NamedTuple):
    """A heading's anchor, and the position where an explicit id can be added: the end of its line.

    `end` is None if no id can be added.
    """

    anchor: str
    end: int | None


def find_headings(source: str) -> list[Heading]:
    """Return a document's headings. `end` is None for HTML headings and headings that end with `}`."""
    return _read(source)[0]


def _anchors(source: str) -> tuple[list[str], set[str]]:
    """Return the heading anchors, numbered if repeated, and the explicit anchors."""
    headings, explicit = _read(source)
    return [heading.anchor for heading in headings], explicit


def _read(source: str) -> tuple[list[Heading], set[str]]:
    environment: dict[str, Any] = {}
    tokens = parse_blocks(source, environment)
    lines = Lines(source)
    headings: list[str] = []
    ends: dict[int, int] = {}  # heading number -> end
    explicit: set[str] = set()
    is_in_html = False
    for token, previous in zip(tokens, [None, *tokens], strict=False):
        if token.type in ("html_block", HTML_OPEN):
            headings += _html_headings(token.content)
            explicit.update(_html_ids(token.content))
            is_in_html = token.type == HTML_OPEN
        elif is_in_html:
            is_in_html = token.type != HTML_CLOSE
        elif token.type == "inline":
            children = parse_inline(token.content, environment) or []
            for child in children:
                if child.type == "html_inline":
                    explicit.update(_html_ids(child.content))
            if previous and previous.type == "heading_open":
                if not token.content.rstrip().endswith("}"):
                    start, end = lines.span(token)
                    ends[len(headings)] = start + len(source[start:end].rstrip())
                headings.append("".join(map(_text_of, children)))
                explicit.update(_EXPLICIT_ID.findall(token.content))
    anchors = numbered_slugs(headings)
    return [Heading(anchor, ends.get(number)) for number, anchor in enumerate(anchors)], explicit


def _text_of(token: Token) -> str:
    return token.content if token.type in ("text", "text_special", "code_inline", "dialect_inline") else ""


def _html_headings(source: str) -> Iterator[str]:
    words: list[str] | None = None
    for token in tokenize(source):
        if token.name in _HEADING_ELEMENTS:
            if words is not None:
                yield html.unescape("".join(words))
            words = [] if token.kind is TokenKind.START else None
        elif token.kind is TokenKind.TEXT and words is not None:
            words.append(token.raw)


def _html_ids(source: str) -> Iterator[str]:
    for token in tokenize(source):
        for attribute in token.attributes():
            if attribute["name"].lower() in ("id", "name"):
                yield html.unescape(attribute["double"] or attribute["single"] or attribute["bare"] or "")


def numbered_slugs(headings: Iterable[str]) -> list[str]:
    """Return the anchors for a document's headings. Repeated anchors are numbered."""
    numbered: list[str] = []
    seen: Counter[str] = Counter()
    for original in map(slug, headings):
        anchor = original
        while anchor in seen:
            seen[original] += 1
            anchor = f"{original}-{seen[original]}"
        seen[anchor] = 0
        numbered.append(anchor)
    return numbered
