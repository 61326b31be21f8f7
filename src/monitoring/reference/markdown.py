"""Renders Markdown as HTML with heading anchors and highlighted code. Markup in the source is escaped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


class Heading(NamedTuple):
    """A heading with its level and anchor."""

    level: int
    anchor: str
    text: str


class Prose(NamedTuple):
    """A rendered text, its headings, and its first paragraph as Markdown source (`summary`)."""

    html: Markup
    headings: tuple[Heading, ...]
    summary: str


def highlight_code(code: str, language: str) -> Markup:
    """Highlight code as HTML. Code in a language that Pygments does not support stays plain."""
    from pygments import highlight  # noqa: PLC0415 - most processes never show a page with code
    from pygments.formatters import HtmlFormatter  # noqa: PLC0415
    from pygments.lexers import get_lexer_by_name  # noqa: PLC0415
    from pygments.util import ClassNotFound  # noqa: PLC0415

    try:
        lexer = get_lexer_by_name(language or "text")
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    return Markup(highlight(code, lexer, HtmlFormatter(nowrap=True, classprefix="t-")))  # noqa: S704 - Pygments escapes


def _highlight_fence(code: str, language: str, _attributes: str) -> str:
    return str(highlight_code(code, language))  # a `Markup` would escape the tags that markdown-it adds


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - as Pygments

    return MarkdownIt("commonmark", {"html": False, "highlight": _highlight_fence}).enable("table")


def render_prose(text: str, rewrite_link: Callable[[str], str] = str) -> Prose:
    """Render a text of several paragraphs. `rewrite_link` takes a link's target and returns the new target.

    If the new target is empty, the link is replaced with its text.
    """
    parser = _parser()
    tokens = parser.parse(text)
    headings = tuple(_anchor_headings(tokens))
    for token in tokens:
        _rewrite_links(token.children or [], rewrite_link)
    html = parser.renderer.render(tokens, parser.options, {})
    return Prose(Markup(html), headings, _first_paragraph(tokens))  # noqa: S704 - markdown-it escapes


def render_words(text: str) -> Markup:
    """Render one line of Markdown, without a surrounding paragraph element."""
    return Markup(_parser().renderInline(text))  # noqa: S704 - markdown-it escapes


def _anchor_headings(tokens: list[Token]) -> Iterator[Heading]:
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            text = re.sub(r"[`*]", "", inline.content)
            anchor = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
            token.attrSet("id", anchor)
            yield Heading(int(token.tag[1:]), anchor, text)


def _rewrite_links(tokens: list[Token], rewrite_link: Callable[[str], str]) -> None:
    is_link = True
    for token in tokens:
        if token.type == "link_open":
            target = rewrite_link(str(token.attrGet("href")))
            is_link = bool(target)
            token.attrs = {"href": target} if is_link else {}
        if token.type in ("link_open", "link_close") and not is_link:
            token.tag = "span"


def _first_paragraph(tokens: list[Token]) -> str:
    paragraphs = (after.content for token, after in pairwise(tokens) if token.type == "paragraph_open")
    return next(paragraphs, "")
