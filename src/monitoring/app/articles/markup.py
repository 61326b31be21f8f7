"""Sanitises publishers' HTML. The result contains only a few allowed elements, and no URLs except in links.

There are two passes. The first pass corrects the nesting of elements, so that the HTML parser of the second
pass has nothing to repair. HTML parsers repair nesting as browsers do, which can turn kilobytes into
gigabytes. The second pass, `nh3`, sanitises the HTML, and its output is used unchanged.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from monitoring.articles.translation.html_tokens import RAW_TEXT_ELEMENTS, Token, TokenKind, tokenize

if TYPE_CHECKING:
    from nh3 import Cleaner

MAX_LEVELS = 32
MAX_ADDRESS_CHARACTERS = 2_000

# fmt: off
INLINE = {
    "a": "a", "b": "strong", "cite": "em", "code": "code", "del": "del", "em": "em", "i": "em", "ins": "ins",
    "kbd": "code", "mark": "mark", "s": "del", "samp": "code", "strike": "del", "strong": "strong",
    "sub": "sub", "sup": "sup", "tt": "code",
}
HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
BLOCKS = {"blockquote", "dl", "ol", "p", "pre", "table", "ul", *HEADINGS}
# Elements that are allowed only inside certain parents, and those parents.
PARTS = {
    "caption": {"table"}, "dd": {"dl"}, "dt": {"dl"}, "li": {"ol", "ul"}, "tbody": {"table"}, "td": {"tr"},
    "tfoot": {"table"}, "th": {"tr"}, "thead": {"table"}, "tr": {"table", "tbody", "tfoot", "thead"},
}
HIDDEN = (RAW_TEXT_ELEMENTS - {"plaintext"}) | {
    "audio", "canvas", "math", "noscript", "object", "select", "svg", "template", "video",
}
TRANSPARENT = {
    "abbr", "acronym", "bdi", "bdo", "big", "button", "data", "dfn", "font", "input", "label", "nobr", "q",
    "rp", "rt", "ruby", "small", "span", "time", "u", "var", "wbr",
}
# fmt: on
_ENDED = {*INLINE, *BLOCKS, *PARTS}
_INLINE_NAMES = frozenset(INLINE.values())
_LEVELS_OF_THE_PAGE = 2  # the page itself uses h1 and h2, so the article's headings begin at h3
_LEAVES = frozenset({"p", "pre", "h3", "h4", "h5", "h6"})  # blocks that contain no other blocks
_DROPPED_IF_EMPTY = _INLINE_NAMES | _LEAVES
_HOLDS_PARAGRAPHS = frozenset({"blockquote", "dd", "li", "td", "th"})

_WEB_ADDRESS = re.compile(r"https?://[^\s/?#]", re.IGNORECASE)


class Block(NamedTuple):
    """A sanitised paragraph, list, table or similar block. `kind` is its element name."""

    kind: str
    html: Markup


def read_blocks(source: str) -> Iterator[Block]:
    """Yield the sanitised blocks of `source`, which may be malformed HTML. The time is linear in its length.

    A caller that needs only the first blocks can stop early, and the rest is not processed.
    """
    for kind, arranged in _Arranger(source).blocks():
        yield Block(kind, Markup(_make_cleaner().clean(arranged)))  # noqa: S704 - sanitised


@cache
def _make_cleaner() -> Cleaner:
    import nh3  # noqa: PLC0415 - 1.5 MiB, needed only when someone reads an article in the app

    return nh3.Cleaner(
        tags={*_INLINE_NAMES, *BLOCKS, *PARTS, "br", "hr"},
        attributes={"a": {"href"}},
        url_schemes={"http", "https"},
        url_relative="deny",
        link_rel="noopener nofollow noreferrer",
    )


class _Arranger:
    def __init__(self, source: str) -> None:
        self._source = source
        self._open: list[tuple[str, int]] = []  # each open element's name, and its index in the output
        self._output: list[str] = []
        self._finished: list[tuple[str, str]] = []
        self._is_broken = False  # whether the next text begins a new paragraph
        self._hidden_ends: dict[str, int] = {}
        self._headings: list[int] = []  # source levels of the last heading and its parent headings

    def blocks(self) -> Iterator[tuple[str, str]]:
        hidden, depth, position = "", 0, 0
        for token in tokenize(self._source):
            position += len(token.raw)
            if hidden:
                if token.name == hidden and not token.raw.endswith("/>"):
                    depth += 1 if token.kind is TokenKind.START else -1
                hidden = hidden if depth else ""
            elif token.kind is TokenKind.START and self._is_hidden_until_end(token, position):
                hidden, depth = token.name, 1
            else:
                self._take(token)
                yield from self._finished
                self._finished.clear()
        self._close_down_to(0)
        yield from self._finished

    def _is_hidden_until_end(self, token: Token, position: int) -> bool:
        """Return whether to drop the element that begins with this start tag, including its content.

        Returns False if no end tag follows `position`, because an element that is never closed would hide the
        rest of the source.
        """
        if token.name not in HIDDEN or token.raw.endswith("/>"):
            return False
        if token.name not in self._hidden_ends:
            self._hidden_ends[token.name] = self._source.lower().rfind(f"</{token.name}")
        return self._hidden_ends[token.name] >= position

    def _take(self, token: Token) -> None:
        name = token.name
        match token.kind:
            case TokenKind.TEXT:
                self._write(token.raw.replace("<", "&lt;"))
            case TokenKind.START if name == "img":
                self._write(_describe_image(token))
            case TokenKind.START if name == "br" and self._open and not self._needs_paragraph():
                self._output.append("<br>")
            case TokenKind.START if name == "hr":
                self._break()
                self._output.append("<hr>")
                self._finish("hr")
            case TokenKind.START if name in INLINE:
                self._open_inline(token)
            case TokenKind.START if name in BLOCKS:
                self._break()
                self._open_element(self._show_heading(HEADINGS[name]) if name in HEADINGS else name)
            case TokenKind.START if name in PARTS:
                self._open_part(name)
            case TokenKind.END if name in _ENDED:
                self._end(self._open_heading() if name in HEADINGS else INLINE.get(name, name))
            case TokenKind.START | TokenKind.END if name not in TRANSPARENT:
                self._break()

    def _open_heading(self) -> str:
        """Return the name of the innermost open heading; empty if none is open.

        An end tag for a heading of any level closes this heading.
        """
        return next((name for name, _ in reversed(self._open) if name in HEADINGS), "")

    def _show_heading(self, level: int) -> str:
        """Return the name of the element that shows a heading with this level in the source.

        The article's headings rank below the page's own headings. If the article skips a level, the result
        does not.
        """
        while self._headings and self._headings[-1] >= level:
            self._headings.pop()
        self._headings.append(level)
        return f"h{min(_LEVELS_OF_THE_PAGE + len(self._headings), 6)}"

    def _write(self, text: str) -> None:
        if self._needs_paragraph():
            if not text.strip():
                return
            self._open_element("p")
        self._output.append(text)

    def _needs_paragraph(self) -> bool:
        block = next((name for name, _ in reversed(self._open) if name not in _INLINE_NAMES), "blockquote")
        return block == "blockquote" or (self._is_broken and block in _HOLDS_PARAGRAPHS)

    def _break(self) -> None:
        """Close an open paragraph or heading and its inline elements."""
        while self._open and self._open[-1][0] in _DROPPED_IF_EMPTY:
            self._close()
        self._is_broken = True

    def _open_inline(self, token: Token) -> None:
        name, start = INLINE[token.name], None
        if name == "a":
            self._end("a")
            address = _read_address(token)
            if not address:
                return
            start = f'<a href="{html.escape(address)}">'
        if self._needs_paragraph():
            self._open_element("p")
        self._open_element(name, start)

    def _open_part(self, name: str) -> None:
        levels = [level for level, (open_, _) in enumerate(self._open) if open_ in PARTS[name]]
        if not levels:
            self._break()
            return
        self._close_down_to(levels[-1] + 1)
        self._open_element(name)

    def _open_element(self, name: str, start: str | None = None) -> None:
        if len(self._open) >= MAX_LEVELS:
            return
        self._open.append((name, len(self._output)))
        self._output.append(start or f"<{name}>")
        self._is_broken = False

    def _end(self, name: str) -> None:
        levels = [level for level, (open_, _) in enumerate(self._open) if open_ == name]
        if levels:
            self._close_down_to(levels[-1])
        if name not in _INLINE_NAMES:
            self._is_broken = True

    def _close_down_to(self, level: int) -> None:
        while len(self._open) > level:
            self._close()

    def _close(self) -> None:
        """Close the innermost element. An empty link, paragraph or heading is removed."""
        name, start = self._open.pop()
        if name in _DROPPED_IF_EMPTY and len(self._output) == start + 1:
            self._output.pop()
        else:
            self._output.append(f"</{name}>")
        self._finish(name)

    def _finish(self, name: str) -> None:
        if not self._open and self._output:
            self._finished.append((name, "".join(self._output)))
            self._output.clear()


def _describe_image(token: Token) -> str:
    """Return the text to show in place of an image, because pages load no images from publishers."""
    words = _read_attribute(token, "alt").strip()
    return html.escape(f"[Image: {words}]" if words else "[Image]")


def _read_address(token: Token) -> str:
    """Return a link's URL; empty unless it is http(s) and no longer than `MAX_ADDRESS_CHARACTERS`."""
    address = _read_attribute(token, "href").strip()
    is_fit = len(address) <= MAX_ADDRESS_CHARACTERS and _WEB_ADDRESS.match(address)
    return address if is_fit else ""


def _read_attribute(token: Token, name: str) -> str:
    found = (each for each in token.attributes() if each["name"].lower() == name)
    attribute = next(found, None)
    return (
        html.unescape(attribute["double"] or attribute["single"] or attribute["bare"] or "")
        if attribute
        else ""
    )
