"""Parses Markdown inside HTML blocks, which MDX, kramdown and pandoc render but GitHub shows literally.

In CommonMark, such a block contains only HTML and ends at a blank line. Here, its lines are parsed as
Markdown blocks between an opening and a closing token. The text in these blocks is escaped both as Markdown
and as HTML.
"""

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, html_block
from markdown_it.token import Token

from monitoring.articles.translation.markdown_literal_blocks import component_end, line_at

HTML_OPEN, HTML_CLOSE = "html_lines_open", "html_lines_close"

# HTML that is not parsed as Markdown: elements in which no parser looks for Markdown, and comments and
# declarations, because these may end anywhere.
_NO_MARKDOWN = re.compile(
    r"<(?:[!?]|(?:script|style|pre|textarea|title|xmp|iframe|noembed|noframes|plaintext)\b)", re.IGNORECASE
)


class HtmlState(StateBlock):
    """A parser state that records whether it is inside an HTML block."""

    is_in_html = False


def read_markdown_in_html(parser: MarkdownIt) -> None:
    """Make the parser parse Markdown in HTML blocks that end at a blank line."""
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
    lines = slice(start, found)
    kept = [marks[lines] for marks in _marks_of_lines(state)]
    last, state.lineMax, state.is_in_html = state.lineMax, found, True
    _leave_out_indents(state, range(start, found))
    state.md.block.tokenize(state, start, found)
    for marks, before in zip(_marks_of_lines(state), kept, strict=True):
        marks[lines] = before
    state.lineMax, state.is_in_html = last, False
    state.push(HTML_CLOSE, "", -1)
    state.line = found
    return True


def _marks_of_lines(state: StateBlock) -> tuple[list[int], ...]:
    return state.bMarks, state.tShift, state.sCount, state.bsCount


def _leave_out_indents(state: StateBlock, lines: Sequence[int]) -> None:
    """Skip the indentation of the enclosing element, just as the `>` of a block quote is skipped."""
    outer: int | None = None
    for number in lines:
        is_tag = line_at(state, number).startswith("<")
        outer = state.sCount[number] if outer is None or is_tag else outer
        column, end = 0, state.bMarks[number] + state.tShift[number]
        while column < outer - state.blkIndent and state.bMarks[number] < end:
            is_tab = state.src[state.bMarks[number]] == "\t"
            column += 4 - (column + state.bsCount[number]) % 4 if is_tab else 1
            state.bMarks[number] += 1
            state.tShift[number] -= 1
        state.sCount[number] = max(state.blkIndent, state.sCount[number] - column)
        state.bsCount[number] += column
        outer = None if is_tag else outer


def is_html(token: Token) -> bool:
    """Return whether inline content belongs to an HTML block."""
    return token.info == HTML_OPEN
