"""Reads Markdown for translation: which parts are words, which are markup, and which are opaque."""

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from markdown_it.token import Token

from monitoring.articles.translation.assembly import Atom, Kind, assemble
from monitoring.articles.translation.html_source import html_atoms
from monitoring.articles.translation.markdown_paragraph import MarkdownParagraph
from monitoring.articles.translation.markdown_spans import normalised, parse_blocks, parse_inline
from monitoring.articles.translation.segments import Template, verbatim

_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\r?\n(?s:.*?)\n\1[ \t]*(?:\r?\n|\Z)")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def markdown_template(source: str, brand_names: tuple[str, ...] = ()) -> Template:
    """Find the segments of a Markdown document. Front matter, code and definitions stay unchanged.

    The `block` of a segment is the index of its token in the block structure after the front matter.
    """
    body = source[front_matter_length(source) :]
    atoms = list(_MarkdownScanner(body, brand_names).atoms())
    front_matter = source[: front_matter_length(source)]
    return (front_matter, *assemble(atoms))


def front_matter_length(source: str) -> int:
    """Return the length of the YAML or TOML block at the very start; 0 without one."""
    front_matter = _FRONT_MATTER.match(source)
    return front_matter.end() if front_matter else 0


class _MarkdownScanner:
    def __init__(self, source: str, brand_names: tuple[str, ...]) -> None:
        self._source = source
        self._brand_names = brand_names
        self._lines = _LINE.findall(source)
        self._line_starts = [0, *accumulate(map(len, self._lines))]
        self._environment: dict[str, Any] = {}

    def atoms(self) -> Iterator[Atom]:
        position = 0
        tokens = parse_blocks(self._source, self._environment)
        for block, token in enumerate(tokens):
            if token.type == "html_block":
                start, end, atoms = self._html_block_atoms(token, block)
            elif token.type == "inline" and token.content:
                is_cell = tokens[block - 1].tag in ("td", "th")
                start, end, atoms = self._paragraph_atoms(token, block, position if is_cell else None)
            else:
                continue
            if atoms and start >= position:
                yield Atom(Kind.BREAK, (self._source[position:start],))
                yield from atoms
                position = end
        yield Atom(Kind.BREAK, (self._source[position:],))

    def _html_block_atoms(self, token: Token, block: int) -> tuple[int, int, list[Atom]]:
        first_line, end_line = token.map or (0, 0)
        start, end = self._line_starts[first_line], self._line_starts[end_line]
        raw = self._source[start:end]
        is_free_of_prefixes = normalised(raw).strip() == token.content.strip()
        return start, end, list(html_atoms(raw, self._brand_names, block)) if is_free_of_prefixes else []

    def _paragraph_atoms(self, token: Token, block: int, floor: int | None) -> tuple[int, int, list[Atom]]:
        places = self._places(token, floor)
        children = parse_inline(token.content, self._environment)
        if not places or children is None:
            return 0, 0, []
        paragraph = MarkdownParagraph(self._source, token.content, places, self._brand_names, block)
        start, end = paragraph.place(0), paragraph.place(len(token.content))
        atoms = list(paragraph.atoms(children))
        is_whole = "".join(verbatim(atom.raw) for atom in atoms) == self._source[start:end]
        return start, end, atoms if is_whole else []

    def _places(self, token: Token, floor: int | None) -> list[tuple[int, int]]:
        """Map the first character of each line of the content to its place in the source."""
        places: list[tuple[int, int]] = []
        position = 0
        for number, content_line in enumerate(token.content.split("\n"), start=(token.map or (0, 0))[0]):
            words = content_line.strip(" \t")
            line = self._lines[number].rstrip()
            line_start = self._line_starts[number]
            if floor is None and line.endswith(words.rstrip()):
                column = len(line) - len(words.rstrip())
            else:  # a heading closed by `#`, or a cell: the first match after the cells before
                column = line.find(words.rstrip(), max(0, (floor or 0) - line_start))
            if column < 0:
                return []
            indent = len(content_line) - len(content_line.lstrip(" \t"))
            places.append((position + indent, line_start + column))
            position += len(content_line) + 1
        return places
