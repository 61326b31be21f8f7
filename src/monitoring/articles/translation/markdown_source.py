"""Parses Markdown for translation into text, markup and opaque parts."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from markdown_it.token import Token

from monitoring.articles.translation.front_matter import front_matter_length
from monitoring.articles.translation.front_matter_words import front_matter_template
from monitoring.articles.translation.html_source import html_atoms
from monitoring.articles.translation.markdown_formats import choose_formats
from monitoring.articles.translation.markdown_in_html import is_html
from monitoring.articles.translation.markdown_paragraph import MarkdownParagraph, words_of_one_line
from monitoring.articles.translation.markdown_places import Lines
from monitoring.articles.translation.markdown_spans import normalised, parse_blocks, parse_inline
from monitoring.articles.translation.markdown_structure import SourceStructure, Structure
from monitoring.articles.translation.segmentation import Atom, Kind, assemble
from monitoring.articles.translation.segments import InPageLink, Template, verbatim

_IN_PAGE_DEFINITION = re.compile(r"\]:\s{0,20}<?#(?P<anchor>[^\s<>]+)")
_HTML_SIGN = re.compile(r"<[A-Za-z/!?]")


def read_markdown(
    source: str, brand_names: tuple[str, ...] = (), *, is_mdx: bool = False
) -> tuple[Template, SourceStructure]:
    """Parse a Markdown document. Code, definitions and most of the front matter stay unchanged.

    A segment's `block` is the index of its token in the block structure after the front matter.
    """
    body = source[front_matter_length(source) :]
    scanner = _MarkdownScanner(body, brand_names, is_mdx=is_mdx)
    template = assemble(scanner.atoms())
    front_matter = source[: front_matter_length(source)]
    words = front_matter_template(front_matter, brand_names)
    return (*words, *template), SourceStructure(body, scanner.structure, is_mdx=is_mdx)


def _without_code(atom: Atom) -> Atom:
    """Exclude the atom from translation if it is JavaScript between MDX tags.

    A text with unbalanced braces counts as such code.
    """
    raw = verbatim(atom.raw) if atom.kind is Kind.TEXT else ""
    return atom._replace(kind=Kind.BREAK) if raw.count("{") != raw.count("}") else atom


def _has_unknown_tags(token: Token, children: Sequence[Token]) -> bool:
    """Return whether HTML has tags that only browsers accept, such as `<a b="c"d>`."""
    return is_html(token) and any(
        child.type == "text" and _HTML_SIGN.search(child.content) for child in children
    )


class _MarkdownScanner:
    def __init__(self, source: str, brand_names: tuple[str, ...], *, is_mdx: bool) -> None:
        self._source = source
        self._is_mdx = is_mdx
        self._brand_names = brand_names
        self._lines = Lines(source)
        self._environment: dict[str, Any] = {}
        self.structure = Structure()

    def atoms(self) -> Iterator[Atom]:
        position = 0
        tokens = parse_blocks(self._source, self._environment, is_mdx=self._is_mdx)
        for block, token in enumerate(tokens):
            is_inline = token.type == "inline"
            children = parse_inline(token.content, self._environment) if is_inline else None
            self.structure.add(token, children)
            if token.type == "definition":
                start, end, atoms = self._definition_atoms(token)
            elif token.type == "html_block" or (children and _has_unknown_tags(token, children)):
                start, end, atoms = self._html_block_atoms(token, block)
            elif children:
                is_cell = tokens[block - 1].tag in ("td", "th")
                start, end, atoms = self._paragraph_atoms(
                    token, children, block, position if is_cell else None
                )
            else:
                continue
            if atoms and start >= position:
                yield Atom(Kind.BREAK, (self._source[position:start],))
                yield from atoms
                position = end
        yield Atom(Kind.BREAK, (self._source[position:],))

    def _definition_atoms(self, token: Token) -> tuple[int, int, list[Atom]]:
        """Return the span and the atom of a definition, or no atom if its address is not in-page."""
        start, end = self._lines.span(token)
        target = _IN_PAGE_DEFINITION.search(self._source, start, end)
        if not target:
            return 0, 0, []
        before, after = self._source[start : target.start("anchor")], self._source[target.end("anchor") : end]
        return start, end, [Atom(Kind.BREAK, (before, InPageLink(target["anchor"]), after))]

    def _html_block_atoms(self, token: Token, block: int) -> tuple[int, int, list[Atom]]:
        start, end = self._lines.span(token)
        raw = self._source[start:end]
        is_free_of_prefixes = normalised(raw).strip() == token.content.strip()
        formats = choose_formats(self._brand_names, raw, is_in_html=True, has_brackets="[" in raw)
        atoms = map(_without_code, html_atoms(raw, self._brand_names, block, formats.words))
        return start, end, list(atoms) if is_free_of_prefixes else []

    def _paragraph_atoms(
        self, token: Token, children: Sequence[Token], block: int, floor: int | None
    ) -> tuple[int, int, list[Atom]]:
        words = None
        if floor is None:
            words = words_of_one_line(
                token.content, children, self._brand_names, block, is_in_html=is_html(token)
            )
        if words and (place := self._lines.place_at_end(token.content, token)):
            return (*place, [words])
        places = self._lines.places(token, floor)
        if not places:
            return 0, 0, []
        has_brackets = any(child.type == "text" and "[" in child.content for child in children)
        formats = choose_formats(
            self._brand_names, token.content, is_in_html=is_html(token), has_brackets=has_brackets
        )
        paragraph = MarkdownParagraph(self._source, token.content, places, formats, block)
        start, end = places.place(0), places.place(len(token.content))
        atoms = list(paragraph.atoms(children))
        is_whole = "".join(verbatim(atom.raw) for atom in atoms) == self._source[start:end]
        return start, end, atoms if is_whole else []
