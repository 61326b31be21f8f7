"""Reads the Markdown inside HTML blocks, which MDX, kramdown and pandoc render, and GitHub shows as it is.

CommonMark ends such a block at a blank line and knows nothing but HTML in it. Its lines are read as blocks
of Markdown here, between two tokens that mark where it begins and ends. Words in it are escaped for both.
"""

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, html_block
from markdown_it.token import Token

from monitoring.articles.translation.markdown_literal_blocks import component_end, line_at

HTML_OPEN, HTML_CLOSE = "html_lines_open", "html_lines_close"

# In these nothing is Markdown to anybody, and a comment or a declaration ends where it pleases.
_NO_MARKDOWN = re.compile(
    r"<(?:[!?]|(?:script|style|pre|textarea|title|xmp|iframe|noembed|noframes|plaintext)\b)", re.IGNORECASE
)


class HtmlState(StateBlock):
    """A state that knows whether it is in an HTML block."""

    is_in_html = False


def read_markdown_in_html(parser: MarkdownIt) -> None:
    """Read what is in HTML blocks that end at a blank line."""
    parser.block.ruler.at("html_block", _html_lines, {"alt": ["paragraph", "reference", "blockquote"]})


def _html_lines(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - a rule's signature
    if not isinstance(state, HtmlState) or state.is_in_html or not html_block(state, start, end, silent):
        return False
    if silent:
        return True
    token = state.tokens[-1]
    if _NO_MARKDOWN.search(token.content):
        return True
    state.tokens.pop()
    found = max(state.line, component_end(state, start, end) or 0)
    while found < end and not state.isEmpty(found) and state.sCount[found] >= state.blkIndent:
        found += 1
    opening = state.push(HTML_OPEN, "", 1)
    opening.content, opening.map = token.content, [start, found]
    kept = state.lineMax, state.sCount[start:found]
    state.sCount[start:found] = _without_indents(state, range(start, found))
    state.lineMax, state.is_in_html = found, True
    state.md.block.tokenize(state, start, found)
    (state.lineMax, state.sCount[start:found]), state.is_in_html = kept, False
    state.push(HTML_CLOSE, "", -1)
    state.line = found
    return True


def _without_indents(state: StateBlock, lines: Sequence[int]) -> list[int]:
    """Return the indents of lines without that of the element they are in."""
    indents: list[int] = []
    outer: int | None = None
    for number in lines:
        if line_at(state, number).startswith("<"):
            outer = None
            indents.append(state.blkIndent)
        else:
            outer = state.sCount[number] if outer is None else outer
            indents.append(state.blkIndent + max(0, state.sCount[number] - outer))
    return indents


def is_html(token: Token) -> bool:
    """Return whether inline content is that of an HTML block."""
    return token.info == HTML_OPEN
