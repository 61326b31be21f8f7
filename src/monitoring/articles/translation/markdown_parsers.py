"""Thread-safe markdown-it parsers.

markdown-it fills some tables on first use. A thread that uses a table before it is complete may miss
emphasis, or fail.
"""

from markdown_it import MarkdownIt
from markdown_it.common.normalize_url import normalizeLink, normalizeLinkText

# These calls fill global tables of URL characters. They run when this module is imported, while
# all threads wait for the import.
normalizeLink("")
normalizeLinkText("")


def make_parser(*, has_tables: bool) -> MarkdownIt:
    """Make a CommonMark parser with strikethrough. The caller adds rules to it, then calls `fill_tables`."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"] if has_tables else ["strikethrough"])


def fill_tables(parser: MarkdownIt) -> None:
    """Fill a parser's tables of active rules before other threads use it."""
    for ruler in (parser.core.ruler, parser.block.ruler, parser.inline.ruler, parser.inline.ruler2):
        ruler.getRules()
