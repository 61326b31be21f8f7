"""Predicts the memory needed to translate a text, before it is parsed.

Parsing creates objects for every markup element, so hostile text may take a thousand times its size in
memory. The prediction counts the characters that can start an element, and assumes the most expensive element
for each of them. So the prediction is an upper bound. For real text, it is several times the actual use.
"""

import re

from monitoring.articles.translation.engines.protocol import PermanentEngineError

# An article with a higher prediction is not translated.
MOST_BYTES = 380 * 1024**2

# An article with a lower prediction may be translated into many locales at once.
SMALL_BYTES = 20 * 1024**2

# The number of characters searched at once, so that no search blocks other threads for long.
_LONGEST_SEARCHED_AT_ONCE = 4_000

_TEXT_BYTES = 40  # per character: the text is copied and split into lines and words
_DOCUMENT_BYTES = 3_000  # per text, however short
_OPAQUE_BYTES = 1_000  # per opaque text, with the words next to it
_MARKDOWN_BYTES = {
    **dict.fromkeys("\r\n", 650),  # a line of its own
    **dict.fromkeys(("\n\n", "\r\r", "\n\r"), 150),  # a paragraph
    **dict.fromkeys((" \n", " \r", "\n ", "\r ", "\n\t", "\r\t"), 600),  # a hard break
    **dict.fromkeys("-+>.)#", 600),  # a list or quotation inside another, or a heading
    **dict.fromkeys("*_~", 700),
    "`": 620,  # one of the two delimiters of a code span
    "\\": 650,
    "&": 700,
    "<": 2_000,
    "[": 1_500,
    "!": 800,
    "|": 800,
}
_HTML_BYTES = {**dict.fromkeys("\r\n", 700), "<": 1_400, "=": 700}


class TooMuchMarkupError(PermanentEngineError):
    """An article would take more memory than `MOST_BYTES` to translate."""

    def __init__(self) -> None:
        super().__init__("The article has too much markup to be translated")


def predict_bytes(text: str, *, is_markdown: bool, opaque: re.Pattern[str] | None = None) -> int:
    """Predict the memory for parsing a text and inserting its translation.

    `opaque` matches text that is never translated. Plain text counts as HTML, because it may be parsed as
    HTML.
    """
    costs = _MARKDOWN_BYTES if is_markdown else _HTML_BYTES
    of_markup = sum(text.count(beginning) * cost for beginning, cost in costs.items())
    of_opaque = _OPAQUE_BYTES * (_count(opaque, text) if opaque else 0)
    return _DOCUMENT_BYTES + len(text) * _TEXT_BYTES + of_markup + of_opaque


def _count(pattern: re.Pattern[str], text: str) -> int:
    starts = range(0, len(text), _LONGEST_SEARCHED_AT_ONCE)
    parts = (pattern.finditer(text, start, start + _LONGEST_SEARCHED_AT_ONCE) for start in starts)
    return sum(1 for found in parts for _ in found)
