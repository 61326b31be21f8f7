"""Cuts the inline content of one Markdown block into atoms."""

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache

from markdown_it.token import Token

from monitoring.articles.translation.assembly import Atom, Format, Kind, assemble
from monitoring.articles.translation.html_source import html_atoms
from monitoring.articles.translation.opaque import opaque_pattern
from monitoring.articles.translation.segments import Template

# Lines with a meaning in other dialects: containers, admonitions; and alerts, definitions, footnotes, tags.
_VERBATIM_LINE = re.compile(r"\s*(?::::|!!!|\?\?\?)")
_LINE_OF_ITS_OWN = re.compile(r"\s*(?::::|!!!|\?\?\?|: |\[![A-Z]|\[\^|\$\$|\{[%{.#:])")
_LINE_MARK = re.compile(r"(?::|\[\^[^\]\s]{1,60}\]:|\[[ xX]\])[ \t]+")  # definition, footnote, task

_INLINE_SYNTAX = re.compile(r"[\\`*\[\]<>|]|~(?=~)|(?<=~)~|(?<!\w)_|_(?!\w)|&(?=#?\w{1,32};)")
_BLOCK_SYNTAX = re.compile(r"^(?:#{1,6}(?=\s|$)|[+-](?=\s|$)|(?:=+|-+)(?=\s*$)|\d{1,9}(?=[.)](?:\s|$)))")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])|(&#?\w{1,32};)")


@lru_cache(maxsize=32)
def _markdown_format(brand_names: tuple[str, ...]) -> Format:
    """Return how Markdown writes words, and escapes those that would become markup."""
    return Format(_decode, _escape, opaque_pattern(brand_names))


def _decode(raw: str) -> str:
    return _ESCAPED.sub(lambda escaped: escaped[1] or html.unescape(escaped[2]), raw)


def _escape(text: str) -> str:
    text = _INLINE_SYNTAX.sub(r"\\\g<0>", text)
    return _BLOCK_SYNTAX.sub(lambda start: f"{start[0]}\\" if start[0].isdigit() else f"\\{start[0]}", text)


class MarkdownParagraph:
    """Inline content, from whose lines markdown-it has removed the prefixes of lists and quotes.

    `places` maps the first character of each line of the content to its place in the source.
    """

    def __init__(
        self,
        source: str,
        content: str,
        places: Sequence[tuple[int, int]],
        brand_names: tuple[str, ...] = (),
        block: int = 0,
    ) -> None:
        self._source = source
        self._content = content
        self._places = places
        self._brand_names = brand_names
        self._format = _markdown_format(brand_names)
        self._block = block
        self._lines = content.split("\n")

    def place(self, position: int) -> int:
        """Return where in the source a position of the content is."""
        content_position, source_position = self._places[self._line_number(position)]
        return source_position + position - content_position

    def atoms(self, tokens: Sequence[Token]) -> Iterator[Atom]:
        """Cut into atoms. They lack some of the paragraph if markdown-it's places contradict each other."""
        position = label_start = 0
        for token in tokens:
            if token.type in ("text", "text_special") or (token.type, token.info) == ("link_close", "auto"):
                continue
            start, end = token.meta["span"]
            if start < position:
                return
            yield from self._words(position, start)
            if token.type == "link_open":
                label_start = end
            label = self._content[label_start:start] if token.type == "link_close" else ""
            yield from self._markup(token, start, end, label)
            position = end
        yield from self._words(position, len(self._content))

    def _words(self, start: int, end: int) -> Iterator[Atom]:
        raw = self._raw(start, end)
        if _VERBATIM_LINE.match(self._lines[self._line_number(start)]):
            yield Atom(Kind.BREAK, (raw,))
            return
        if mark := _LINE_MARK.match(raw) if self._starts_line(start) else None:
            yield Atom(Kind.BREAK, (mark.group(),))
            raw = raw[mark.end() :]
        if raw:
            yield Atom(Kind.TEXT, (raw,), text_format=self._format, block=self._block)

    def _markup(self, token: Token, start: int, end: int, label: str) -> Iterator[Atom]:
        raw, block = self._raw(start, end), self._block
        match token.type:
            case "softbreak":
                line = self._line_number(start)
                neighbours = self._lines[line : line + 2]
                is_break = any(map(_LINE_OF_ITS_OWN.match, neighbours))
                yield Atom(Kind.BREAK if is_break else Kind.TEXT, (raw,), text=" ", block=block)
            case "hardbreak":
                yield Atom(Kind.BREAK, (raw,))
            case "html_inline" if "\n" not in raw:
                yield from html_atoms(raw, self._brand_names, block)
            case "html_inline":
                yield Atom(Kind.BREAK, (raw,))
            case "image":
                yield Atom(Kind.SOLID, self._image(token, raw), block=block)
            case "link_close" if raw in (
                "]",
                "][]",
            ):  # a reference whose label is its text: keep the label when the text changes
                reference = f"][{' '.join(label.split())}]"
                yield Atom(Kind.CLOSE, (raw,), name="link_", changed_raw=(reference,), block=block)
            case _ if token.nesting and token.info != "auto":
                kind = Kind.OPEN if token.nesting > 0 else Kind.CLOSE
                yield Atom(
                    kind, (raw,), name=token.type.removesuffix("open").removesuffix("close"), block=block
                )
            case _:
                yield Atom(Kind.SOLID, (raw,), block=block)

    def _image(self, token: Token, raw: str) -> Template:
        """Make the alternative text translatable, unless it holds markup or is a reference's label."""
        target = raw.removeprefix(f"![{token.content}")
        is_plain = all(child.type in ("text", "text_special") for child in token.children or ())
        if not is_plain or target == raw or not re.match(r"\](\(|\[[^\]])", target):
            return (raw,)
        alt = [Atom(Kind.TEXT, (token.content,), text_format=self._format, block=self._block)]
        return ("![", *assemble(alt), target)

    def _raw(self, start: int, end: int) -> str:
        return self._source[self.place(start) : self.place(end)]

    def _line_number(self, position: int) -> int:
        return max(0, bisect_right(self._places, (position, len(self._source))) - 1)

    def _starts_line(self, position: int) -> bool:
        return position == 0 or position == self._places[self._line_number(position)][0]
