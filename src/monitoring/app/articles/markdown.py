"""Renders publishers' Markdown as HTML. This HTML is untrusted, so `markup` must sanitise it."""

from __future__ import annotations

from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import escape

from monitoring.articles.translation.front_matter import front_matter_length
from monitoring.articles.translation.markdown_parsers import fill_tables, make_parser
from monitoring.articles.translation.markdown_spans import MAX_DELIMITERS_IN_PARAGRAPH, has_modest_tables

# The approximate limit on the total length of the URLs in the HTML of one text. In Markdown, three characters
# are enough to refer to a link definition, and each reference copies the URL into the HTML. Many references
# to a long URL could therefore exhaust the memory.
MAX_ADDRESS_CHARACTERS_IN_TEXT = 1_000_000


def render_markdown(source: str) -> str:
    """Render a text as HTML with the parser that translation also uses. Front matter is shown unchanged.

    A paragraph with an implausible amount of markup is shown as plain text, and so is a huge table.
    """
    start = front_matter_length(source)
    front_matter = source[:start].removeprefix("\ufeff")
    shown = f"<pre>{escape(front_matter)}</pre>" if front_matter else ""
    rendered: str = _parser(has_tables=has_modest_tables(source)).render(source[start:])
    return shown + rendered


@cache
def _parser(*, has_tables: bool) -> MarkdownIt:
    parser = make_parser(has_tables=has_tables)
    parser.core.ruler.at("inline", _read_paragraphs)
    fill_tables(parser)
    return parser


def _read_paragraphs(state: StateCore) -> None:
    left = MAX_ADDRESS_CHARACTERS_IN_TEXT
    for token in state.tokens:
        if token.type != "inline":
            continue
        children: list[Token] = []
        if left > 0 and sum(map(token.content.count, "*_~[")) <= MAX_DELIMITERS_IN_PARAGRAPH:
            state.md.inline.parse(token.content, state.md, state.env, children)
            left -= sum(len(str(value)) for child in children for value in child.attrs.values())
        is_fit = left > 0 and children
        token.children = children if is_fit else [Token("text", "", 0, content=token.content)]
