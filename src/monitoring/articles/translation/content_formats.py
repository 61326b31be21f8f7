"""Determines a text's format from the publisher's declaration, or else from the text's syntax."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from monitoring.articles.translation.html_source import INLINE_ELEMENTS, OPAQUE_ELEMENTS, VOID_ELEMENTS
from monitoring.articles.translation.html_tokens import TokenKind, tokenize


class TextFormat(StrEnum):
    """The format of a text from a publisher."""

    PLAIN = "plain"
    HTML = "html"
    MARKDOWN = "markdown"
    MDX = "mdx"

    @property
    def is_markdown(self) -> bool:
        """Whether the format is Markdown or MDX."""
        return self in (TextFormat.MARKDOWN, TextFormat.MDX)


# All Markdown dialects are parsed with the same rules, because the syntax of one dialect has no meaning in
# the others. Only MDX is parsed differently, because a line indented by four spaces is not code in MDX.
_MARKDOWN_NAMES = (
    "markdown md text/markdown commonmark gfm github kramdown pandoc rmarkdown quarto myst"
    " hugo jekyll eleventy hexo zola astro starlight mkdocs vitepress vuepress docfx gitbook mdbook obsidian"
)
_NAMES = {
    **dict.fromkeys(_MARKDOWN_NAMES.split(), TextFormat.MARKDOWN),
    **dict.fromkeys(("mdx", "text/mdx", "docusaurus", "nextra"), TextFormat.MDX),
    **dict.fromkeys(("html", "text/html"), TextFormat.HTML),
}

_LONGEST_BEGINNING = 100_000  # this many characters are enough to determine the format
_HTML_BLOCK_END = re.compile(r"</(?:p|h[1-6]|li|div|ul|ol|table|section|article|body)\s*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,2000}>")
_STRONG_SIGN = re.compile(r"^ {0,3}(?:#{1,6} |```|~~~)|\]\(", re.MULTILINE)
_SIGN = re.compile(
    rf"{_STRONG_SIGN.pattern}|^ {{0,3}}(?:[-*+] |\d{{1,9}}[.)] |> |\|)|(?<![\w*])\*\*\w|(?<![\w`])`\w",
    re.MULTILINE,
)
_COMPONENT = re.compile(r"<(?!(?i:div|span|table|body|html|head|title|img)\b)[A-Z][a-z]+[A-Z.]?\w*(?=[\s/>])")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")


def content_format(name: object, content: str) -> TextFormat:
    """Return the format of an article's content: the declared format, or else the detected format.

    Content declared as HTML counts as Markdown if it has paragraphs without any tag, or Markdown headings,
    code or links outside all elements.
    """
    declared = _NAMES.get(name.strip().lower()) if isinstance(name, str) else None
    if declared and declared.is_markdown:
        return declared
    beginning = content[:_LONGEST_BEGINNING]
    if declared:
        is_html = not _contradicts_html(beginning)
    else:
        is_html = _is_enclosed(beginning) and not _has_words_outside_blocks(beginning)
    return TextFormat.HTML if is_html else TextFormat.MARKDOWN


def _contradicts_html(content: str) -> bool:
    if not _TAG.search(content):
        return bool(_BLANK_LINE.search(content.strip()))
    sign = _STRONG_SIGN if _HTML_BLOCK_END.search(content) else _SIGN
    return any(sign.search(content, start, end) for start, end, is_outside in _texts(content) if is_outside)


def _is_enclosed(content: str) -> bool:
    """Return whether the content starts and ends like HTML, or contains an HTML block."""
    stripped = content.strip()
    return (stripped.startswith("<") and stripped.endswith(">")) or bool(_HTML_BLOCK_END.search(content))


def _has_words_outside_blocks(content: str) -> bool:
    """Return whether HTML content is mixed with Markdown.

    The content is mixed if Markdown or a blank line is outside all HTML blocks, if Markdown follows a blank
    line inside a block, or if there is an MDX component such as `<Card>`.
    """
    if _COMPONENT.search(content):
        return True
    for start, end, is_outside in _texts(content):
        text = content[start:end]
        if is_outside and text.strip() and (_BLANK_LINE.search(text) or _SIGN.search(content, start, end)):
            return True
        if not is_outside and any(map(_SIGN.search, _BLANK_LINE.split(text)[1:])):
            return True
    return False


def _texts(content: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the start and end of each text, and whether it is outside all blocks.

    Texts in elements that are not translated, such as `<pre>`, are omitted.
    """
    position = blocks = opaque = 0
    for token in tokenize(content):
        start, position = position, position + len(token.raw)
        step = {TokenKind.START: 1, TokenKind.END: -1}.get(token.kind, 0)
        if token.kind is TokenKind.TEXT and not opaque:
            yield start, position, not blocks
        elif token.name in OPAQUE_ELEMENTS:
            opaque = max(0, opaque + step)
        elif token.name not in INLINE_ELEMENTS | VOID_ELEMENTS:
            blocks = max(0, blocks + step)
