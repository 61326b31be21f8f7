"""Parses CommonMark with markdown-it, and records the span of each inline construct.

markdown-it reports block lines but no positions of inline markup, so its rules are wrapped.
"""

from functools import cache
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from monitoring.articles.translation import markdown_rules
from monitoring.articles.translation.markdown_brackets import BRACKET_CLOSE, BRACKET_OPEN
from monitoring.articles.translation.markdown_dialects import (
    BEGINNINGS,
    add_dialects,
    take_footnotes_for_words,
)
from monitoring.articles.translation.markdown_in_html import read_markdown_in_html
from monitoring.articles.translation.markdown_parsers import fill_tables, make_parser
from monitoring.articles.translation.markdown_rules import ask_less, words

# There is a limit because each table row has as many cells as the header, even if the row's line is short. So
# 2 KB of Markdown can create a million cells.
MAX_TABLE_CELLS = 20_000

# No real paragraph has this many delimiters. There is a limit because markdown-it takes quadratic time for
# emphasis and links.
MAX_DELIMITERS_IN_PARAGRAPH = 2_000


def parse_blocks(
    source: str, environment: dict[str, Any], *, has_dialects: bool = True, is_mdx: bool = False
) -> list[Token]:
    """Parse the block structure, but not the inline content. Stores link references in `environment`.

    Without `has_dialects`, only CommonMark, tables and strikethrough are parsed. MDX has no indented code. If
    the document has too many table cells, its tables are parsed as paragraphs.
    """
    source = normalised(source)
    parser = _parser(has_tables=has_modest_tables(source), has_dialects=has_dialects, is_mdx=is_mdx)
    return markdown_rules.parse_blocks(source, parser, environment)


def has_modest_tables(source: str) -> bool:
    """Return whether tables stay within `MAX_TABLE_CELLS`.

    Each row is counted with as many cells as the widest header.
    """
    columns = count = 0
    for line in source.splitlines():
        if not line.strip():
            columns = 0
        elif "-" in line:
            columns = max(columns, line.count("|") + 1)
        count += columns
        if count > MAX_TABLE_CELLS:
            return False
    return True


def normalised(source: str) -> str:
    """Normalize line endings and NUL characters for markdown-it's block parser."""
    return source.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def parse_inline(
    content: str, environment: dict[str, Any], *, has_dialects: bool = True
) -> list[Token] | None:
    """Parse the content of a paragraph into inline tokens.

    `meta["span"]` of a token is its span in `content`. Plain text tokens have no span. Returns None if the
    paragraph has more than `MAX_DELIMITERS_IN_PARAGRAPH` delimiters.
    """
    if sum(map(content.count, "*_~[")) > MAX_DELIMITERS_IN_PARAGRAPH:
        return None
    parser = _parser(has_tables=True, has_dialects=has_dialects)
    if not parser.inline.terminator_re.search(content):  # no rule can match
        return [words(content)] if content else []
    state = _PlacingState(content, parser, environment, [])
    parser.inline.tokenize(state)
    for finish in parser.inline.ruler2.getRules(""):
        finish(state)
    for token in state.tokens:
        _include_outer_delimiters(token)
    return state.tokens


class _PlacingState(StateInline):
    def pushPending(self) -> Token:  # noqa: N802 - markdown-it's name
        token = words(self.pending)
        token.level = self.pendingLevel
        self.tokens.append(token)
        self.pending = ""
        return token

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        token = super().push(ttype, tag, nesting)
        token.meta["pushed_at"] = self.pos
        return token


def _note_places(state: StateInline, start: int, known_count: int) -> None:
    """Record the spans of new tokens, whose markup begins at `start`."""
    end = state.pos
    for token in reversed(state.tokens[known_count:]):
        if not token.meta:
            continue  # text before the markup
        if token.type == "text" and token.content and token.content[0] in "*_~":
            token.meta.setdefault("span", (end - len(token.content), end))  # a run of delimiters
            end -= len(token.content)
        elif token.type in ("link_open", BRACKET_OPEN) and token.info != "auto":
            token.meta["span"] = (start, token.meta.get("pushed_at", start))
        elif token.type in ("link_close", BRACKET_CLOSE) and token.info != "auto":
            token.meta["span"] = (token.meta.get("pushed_at", start), state.pos)
        else:
            token.meta.setdefault("span", (start, state.pos))


def _include_outer_delimiters(token: Token) -> None:
    """Widen the span of strong markup: markdown-it's token covers only the inner delimiter of `**`."""
    if token.type in ("strong_open", "strong_close"):
        start, end = token.meta["span"]
        token.meta["span"] = (start - 1, end) if token.nesting == 1 else (start, end + 1)


@cache
def _parser(*, has_tables: bool, has_dialects: bool, is_mdx: bool = False) -> MarkdownIt:
    parser = make_parser(has_tables=has_tables)
    parser.options["inline_definitions"] = True  # creates a token for each link definition
    if has_dialects:
        add_dialects(parser)
        read_markdown_in_html(parser)
    else:
        take_footnotes_for_words(parser)
    if is_mdx:
        parser.disable("code")
    ask_less(parser, BEGINNINGS, _note_places)
    fill_tables(parser)
    return parser
