"""Finds the position of a block's inline content in the Markdown source.

markdown-it strips list and quote prefixes from a block's lines, and reports only line numbers.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from markdown_it.token import Token

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


class Lines:
    """The lines of a Markdown source, and their positions."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._starts = [0, *(line.end() for line in _LINE.finditer(source))]

    def span(self, token: Token) -> tuple[int, int]:
        """Return the start and end of a block's lines."""
        first_line, end_line = token.map or (0, 0)
        return self._starts[first_line], self._starts[end_line]

    def place_at_end(self, content: str, token: Token) -> tuple[int, int] | None:
        """Return the span of single-line content if it is at the end of its source line, or else None."""
        number = (token.map or (0, 0))[0]
        line = self._line(number)
        end = self._starts[number] + len(line)
        return (end - len(content), end) if line.endswith(content) else None

    def places(self, token: Token, floor: int | None) -> "Places | None":
        """Locate each line of a block's content in the source.

        For a table cell, `floor` is the position where the search starts. For other content, it is None.
        Returns None if the content cannot be found, because markdown-it has dropped something unexpected.
        """
        places: list[tuple[int, int]] = []
        position = 0
        for number, content_line in enumerate(token.content.split("\n"), start=(token.map or (0, 0))[0]):
            words = content_line.strip(" \t")
            line = self._line(number)
            line_start = self._starts[number]
            if floor is None and line.endswith(words.rstrip()):
                column = len(line) - len(words.rstrip())
            else:  # a heading closed by `#`, or a cell: take the first match after the previous cells
                words = words if floor is None else words.replace("|", "\\|")
                column = line.find(words.rstrip(), max(0, (floor or 0) - line_start))
            if column < 0:
                return None
            indent = len(content_line) - len(content_line.lstrip(" \t"))
            places.append((position + indent, line_start + column))
            if not position and floor is None and self._source.startswith(token.content, line_start + column):
                break  # the other lines have no prefixes
            if floor is not None:  # markdown-it has removed the backslash before each `|` of a cell
                pipes = enumerate(re.finditer(r"\|", content_line), start=1)
                places += ((pipe.end(), line_start + column + pipe.end() + count) for count, pipe in pipes)
            position += len(content_line) + 1
        return Places(places, len(self._source))

    def _line(self, number: int) -> str:
        return self._source[self._starts[number] : self._starts[number + 1]].rstrip()


class Places:
    """Maps content positions to source positions.

    `known` contains pairs of a content position and its source position. There is a pair for the start of
    each content line, and for each position after something that markdown-it has dropped.
    """

    def __init__(self, known: Sequence[tuple[int, int]], source_length: int) -> None:
        self._places = known
        self._source_length = source_length
        self._known = 0  # index of the last pair used; the next pair is close to it

    def place(self, position: int) -> int:
        """Return the source position for a content position."""
        known = self._known
        if known and position < self._places[known][0]:
            known = bisect_right(self._places, (position, self._source_length)) - 1
        while known + 1 < len(self._places) and self._places[known + 1][0] <= position:
            known += 1
        self._known = max(0, known)
        content_position, source_position = self._places[self._known]
        return source_position + position - content_position
