"""Splits the inline content of a Markdown block into atoms, which are pieces of text or markup."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate

from markdown_it.token import Token

from monitoring.articles.translation.html_source import html_atoms
from monitoring.articles.translation.markdown_dialects import LITERAL_INLINE
from monitoring.articles.translation.markdown_formats import Formats, choose_formats, decode
from monitoring.articles.translation.markdown_lines import (
    LINE_MARK,
    LINE_OF_ITS_OWN,
    PIPES,
    VERBATIM_LINE,
    find_options,
    find_titles,
)
from monitoring.articles.translation.markdown_places import Places
from monitoring.articles.translation.segmentation import Atom, Kind, assemble
from monitoring.articles.translation.segments import InPageLink, Piece, Template, verbatim

# The number of characters that are searched at once. It limits how far syntax affects later lines, and how
# long a search blocks other threads.
_LONGEST_READ_AT_ONCE = 4_000

# Matches lines that are not plain text, and characters that may begin opaque text of several lines.
_NOT_ONLY_WORDS = re.compile(rf"^(?:{LINE_OF_ITS_OWN.pattern}|{LINE_MARK.pattern})|[\[{{$\\]", re.MULTILINE)

_IN_PAGE_TARGET = re.compile(r"\]\(\s*<?#([^\s<>()\\&]+)")
_LINK_TITLE = re.compile(r"""\]\(\s*+(?:<[^<>\n]*+>|[^\s<]\S*+)\s++["'(](?P<title>[^\n]*)["')]\s*\)\Z""")


@lru_cache(maxsize=32)
def _line_break(raw: str, block: int, *, is_break: bool) -> Atom:
    return Atom(Kind.BREAK if is_break else Kind.TEXT, (raw,), text=" ", block=block)


def _with_attributes(atoms: Iterable[Atom]) -> Iterator[Atom]:
    """Join `{.attributes}` to the markup before them, so that they still apply to this markup."""
    before: Atom | None = None
    for atom in atoms:
        if before and before.kind in (Kind.CLOSE, Kind.SOLID) and _are_attributes(atom):
            changed_raw = before.changed_raw and (*before.changed_raw, *atom.raw)
            before = before._replace(raw=(*before.raw, *atom.raw), changed_raw=changed_raw)
            continue
        if before:
            yield before
        before = atom
    if before:
        yield before


def _are_attributes(atom: Atom) -> bool:
    return atom.kind is Kind.SOLID and bool(re.match(r"\{[^{%]", verbatim(atom.raw)))


def words_of_one_line(
    content: str, tokens: Sequence[Token], brand_names: tuple[str, ...], block: int, *, is_in_html: bool
) -> Atom | None:
    """Return the atom for inline content that is one line of plain text, or None for other content."""
    is_text = len(tokens) == 1 and tokens[0].type == "text" and tokens[0].content == content
    if (
        not is_text
        or content != content.strip()
        or content.startswith("|")
        or VERBATIM_LINE.match(content)
        or LINE_MARK.match(content)
    ):
        return None
    formats = choose_formats(brand_names, content, is_in_html=is_in_html, has_brackets="[" in content)
    return Atom(Kind.TEXT, (content,), text_format=formats.words, block=block)


class MarkdownParagraph:
    """A Markdown block's inline content, with its position in the source."""

    def __init__(
        self,
        source: str,
        content: str,
        places: Places,
        formats: Formats,
        block: int,
    ) -> None:
        self._source = source
        self._content = content
        self._place = places.place
        self._last = -1, 0  # a content position and its source position
        self._formats = formats
        self._block = block
        self._lines = content.split("\n")
        self._line_starts = [0, *accumulate(len(line) + 1 for line in self._lines)]

    @cached_property
    def _indents(self) -> list[int]:
        return [len(line) - len(line.lstrip(" \t")) for line in self._lines]

    @cached_property
    def _options(self) -> frozenset[int]:
        return find_options(self._lines) if "///" in self._content or ":::" in self._content else frozenset()

    def atoms(self, tokens: Sequence[Token]) -> Iterator[Atom]:
        """Split the content into atoms.

        If markdown-it's positions are inconsistent, the atoms do not cover all the content.
        """
        return _with_attributes(self._atoms(tokens))

    def _atoms(self, tokens: Sequence[Token]) -> Iterator[Atom]:
        position = label_start = 0
        title: object = None
        for token in tokens:
            if token.type in ("text", "text_special") or (token.type, token.info) == ("link_close", "auto"):
                continue
            start, end = token.meta["span"]
            if start < position:
                return
            yield from self._words(position, start)
            if token.type == "link_open":
                label_start, title = end, token.attrs.get("title")
            label = self._content[label_start:start] if token.type == "link_close" else ""
            yield from self._markup(token, start, end, label, title)
            position = end
        yield from self._words(position, len(self._content))

    def _words(self, start: int, end: int) -> Iterator[Atom]:
        while (line_end := self._content.find("\n", start, end)) >= 0:
            stop = end
            if end - start > _LONGEST_READ_AT_ONCE:
                stop = max(line_end, self._content.rfind("\n", start, start + _LONGEST_READ_AT_ONCE))
            yield from self._words_of_lines(start, stop)
            if stop == end:
                return
            yield self._line_end(stop, stop + 1)
            start = stop + 1
        yield from self._words_of_line(start, end)

    def _words_of_lines(self, start: int, end: int) -> Iterator[Atom]:
        if start < end and self._are_only_words(start, end):
            yield Atom(
                Kind.TEXT, (self._raw(start, end),), text_format=self._formats.words, block=self._block
            )
            return
        while (line_end := self._content.find("\n", start, end)) >= 0:
            yield from self._words_of_line(start, line_end)
            yield self._line_end(line_end, line_end + 1)
            start = line_end + 1
        yield from self._words_of_line(start, end)

    def _are_only_words(self, start: int, end: int) -> bool:
        """Return whether the lines are plain text and have no prefixes in the source."""
        first, last = self._line_number(start), self._line_number(end)
        if LINE_OF_ITS_OWN.match(self._lines[last]):  # checked first, because a match may extend beyond `end`
            return False
        if self._options and not self._options.isdisjoint(range(first, last + 1)):
            return False
        has_more = _NOT_ONLY_WORDS.search(self._content, self._line_starts[first], end)
        return not has_more and self._raw(start, end) == self._content[start:end]

    def _words_of_line(self, start: int, end: int) -> Iterator[Atom]:
        if start == end:
            return
        raw, number = self._raw(start, end), self._line_number(start)
        if number in self._options:
            yield Atom(Kind.BREAK, (raw,))
            return
        if VERBATIM_LINE.match(self._lines[number]):
            yield from self._titles_of_line(raw, start)
            return
        starts_line = start <= self._line_starts[number] + self._indents[number]
        if mark := LINE_MARK.match(raw) if starts_line else None:
            yield Atom(Kind.BREAK, (mark.group(),))
            raw = raw[mark.end() :]
        parts = PIPES.split(raw) if self._lines[number].lstrip().startswith("|") else [raw]
        for index, part in enumerate(parts):
            if part:
                kind = Kind.BREAK if index % 2 else Kind.TEXT
                yield Atom(kind, (part,), text_format=self._formats.words, block=self._block)

    def _line_end(self, start: int, end: int) -> Atom:
        line = self._line_number(start)
        is_break = any(map(LINE_OF_ITS_OWN.match, self._lines[line : line + 2])) or any(
            number in self._options for number in (line, line + 1)
        )
        return _line_break(self._raw(start, end), self._block, is_break=is_break)

    def _titles_of_line(self, raw: str, start: int) -> Iterator[Atom]:
        """Split a titled line into atoms.

        Examples are `!!! note "Title"`, `:::tip[Title]` and `:::image alt-text="Words"`.
        """
        number = self._line_number(start)
        column = start - self._line_starts[number]
        position = 0
        for title_start, title_end in find_titles(self._lines[number]):
            words_start = min(max(title_start - column, position), len(raw))
            words_end = min(max(title_end - column, words_start), len(raw))
            yield from self._parts(
                (Kind.BREAK, raw[position:words_start]), (Kind.TEXT, raw[words_start:words_end])
            )
            position = words_end
        yield from self._parts((Kind.BREAK, raw[position:]))

    def _parts(self, *parts: tuple[Kind, str]) -> Iterator[Atom]:
        for kind, part in parts:
            if part:
                yield Atom(kind, (part,), text_format=self._formats.line_title, block=self._block)

    def _markup(self, token: Token, start: int, end: int, label: str, title: object) -> Iterator[Atom]:
        raw, block = self._raw(start, end), self._block
        match token.type:
            case "softbreak":
                yield self._line_end(start, end)
            case "hardbreak":
                yield Atom(Kind.BREAK, (raw,))
            case "html_inline" if "\n" not in raw or raw == self._content[start:end]:
                yield from html_atoms(raw, self._formats.brand_names, block)
            case "html_inline":
                yield Atom(Kind.BREAK, (raw,))
            case _ if token.type == LITERAL_INLINE and raw.startswith("<"):
                yield Atom(Kind.BREAK, (raw,))
            case "image":
                yield Atom(Kind.SOLID, self._image(token, raw), block=block)
            case "link_close" if raw in (
                "]",
                "][]",
            ):  # the text of this reference is also its label, so keep the label when the text changes
                reference = f"][{' '.join(label.split())}]"
                yield Atom(Kind.CLOSE, (raw,), name="link_", changed_raw=(reference,), block=block)
            case _ if token.nesting and token.info != "auto":
                kind = Kind.OPEN if token.nesting > 0 else Kind.CLOSE
                name = token.type.removesuffix("open").removesuffix("close")
                is_link_end = token.type == "link_close"
                template = self._link_end(raw, title) if is_link_end else (raw,)
                yield Atom(kind, template, name=name, block=block)
            case _:
                yield Atom(Kind.SOLID, (raw,), block=block)

    def _image(self, token: Token, raw: str) -> Template:
        """Return the template of an image, with translatable alternative text.

        The text is not translatable if it contains markup or is a reference label.
        """
        target = raw.removeprefix(f"![{token.content}")
        is_words = all(child.type in ("text", "text_special") for child in token.children or ())
        is_plain = is_words and "\n" not in token.content
        if not is_plain or target == raw or not re.match(r"\](\(|\[[^\]])", target):
            return (raw,)
        alt = [Atom(Kind.TEXT, (token.content,), text_format=self._formats.label, block=self._block)]
        return ("![", *assemble(alt), *self._link_end(target, token.attrs.get("title")))

    def _link_end(self, raw: str, title: object) -> Template:
        """Return the template of the end of a link, such as `](#anchor "title")`.

        Its anchor and its title can be replaced.
        """
        pieces: list[Piece] = []
        position = 0
        if target := _IN_PAGE_TARGET.match(raw):
            pieces += (raw[: target.start(1)], InPageLink(target[1]))
            position = target.end(1)
        found = _LINK_TITLE.match(raw) if title else None
        if found and decode(found["title"]) == title:
            words = Atom(Kind.TEXT, (found["title"],), text_format=self._formats.title, block=self._block)
            pieces += (raw[position : found.start("title")], *assemble([words]))
            position = found.end("title")
        return (*pieces, raw[position:])

    def _raw(self, start: int, end: int) -> str:
        known, place = self._last
        if start != known:
            place = self._place(start)
        self._last = end, self._place(end)
        return self._source[place : self._last[1]]

    def _line_number(self, position: int) -> int:
        return bisect_right(self._line_starts, position) - 1
