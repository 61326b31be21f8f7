"""Parsers of markdown-it that threads may share.

markdown-it fills some tables when they are first needed. A thread that came meanwhile would use half a table:
it would find no emphasis, or fail.
"""

from markdown_it import MarkdownIt
from markdown_it.common.normalize_url import normalizeLink, normalizeLinkText

# The tables of characters in addresses are the process's. A module runs once, and all threads wait for it.
normalizeLink("")
normalizeLinkText("")


def make_parser(*, has_tables: bool) -> MarkdownIt:
    """Make a parser of CommonMark and strikethrough. Whoever is done changing it fills its tables."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"] if has_tables else ["strikethrough"])


def fill_tables(parser: MarkdownIt) -> None:
    """Have a parser note which of its rules are active, before other threads get it."""
    for ruler in (parser.core.ruler, parser.block.ruler, parser.inline.ruler, parser.inline.ruler2):
        ruler.getRules()
