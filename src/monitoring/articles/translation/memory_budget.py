"""Predicts the memory that texts take while they are translated, before anything is read.

Reading makes objects of every piece of markup, so hostile text takes a thousand times its size. The
prediction counts the characters that can begin such a piece, and assumes the dearest piece for each. So it is
more than what is used, and for what people write several times as much.
"""

import re

from monitoring.articles.translation.engines.protocol import PermanentEngineError

# An article that is predicted to take more is not translated.
MOST_BYTES = 380 * 1024**2

# One that is predicted to take less may be translated into many locales at once.
SMALL_BYTES = 20 * 1024**2

# Characters: no search holds up other threads.
_LONGEST_SEARCHED_AT_ONCE = 4_000

_TEXT_BYTES = 40  # of each character: the text is copied, and cut into lines and words
_DOCUMENT_BYTES = 3_000  # of each text, however short
_OPAQUE_BYTES = 1_000  # of what is never translated, and the words beside it
_MARKDOWN_BYTES = {
    **dict.fromkeys("\r\n", 650),  # a line of its own
    **dict.fromkeys(("\n\n", "\r\r", "\n\r"), 150),  # a paragraph
    **dict.fromkeys((" \n", " \r", "\n ", "\r ", "\n\t", "\r\t"), 600),  # a hard break
    **dict.fromkeys("-+>.)#", 600),  # a list or a quotation in another one, a heading
    **dict.fromkeys("*_~", 700),
    "`": 620,  # half of a code span
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
    """Predict the memory of reading a text, and of putting a translation of it in its place.

    `opaque` matches what is never translated. Plain text counts as HTML, since it may be read as such.
    """
    costs = _MARKDOWN_BYTES if is_markdown else _HTML_BYTES
    of_markup = sum(text.count(beginning) * cost for beginning, cost in costs.items())
    of_opaque = _OPAQUE_BYTES * (_count(opaque, text) if opaque else 0)
    return _DOCUMENT_BYTES + len(text) * _TEXT_BYTES + of_markup + of_opaque


def _count(pattern: re.Pattern[str], text: str) -> int:
    starts = range(0, len(text), _LONGEST_SEARCHED_AT_ONCE)
    parts = (pattern.finditer(text, start, start + _LONGEST_SEARCHED_AT_ONCE) for start in starts)
    return sum(1 for found in parts for _ in found)
