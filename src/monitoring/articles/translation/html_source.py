"""Parses HTML for translation into text, markup and opaque parts."""

import html
import re
from collections.abc import Iterator
from functools import lru_cache, partial

from monitoring.articles.translation.html_tokens import Token, TokenKind, tokenize
from monitoring.articles.translation.segmentation import Atom, Format, Kind, assemble
from monitoring.articles.translation.segments import InPageLink, Piece, SourceLanguage, Template
from monitoring.articles.translation.untranslated import opaque_pattern

# fmt: off
INLINE_ELEMENTS = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "del", "dfn", "em", "font", "i", "ins", "label",
    "mark", "q", "s", "small", "span", "strike", "strong", "sub", "sup", "time", "u",
})
INLINE_OPAQUE_ELEMENTS = frozenset({"code", "kbd", "math", "ruby", "samp", "svg", "tt", "var"})
OPAQUE_ELEMENTS = INLINE_OPAQUE_ELEMENTS | {
    "audio", "canvas", "iframe", "noembed", "noframes", "noscript", "object", "plaintext", "pre", "script",
    "select", "style", "template", "textarea", "video", "xmp",
}
UNHEARD_ELEMENTS = frozenset({
    "link", "noembed", "noframes", "plaintext", "script", "style", "template", "xmp",
})
INLINE_VOID_ELEMENTS = frozenset({"img", "input", "wbr"})
VOID_ELEMENTS = INLINE_VOID_ELEMENTS | {
    "area", "base", "br", "col", "embed", "hr", "link", "meta", "param", "source", "track",
}
# fmt: on
SOURCE_LANGUAGE = "en"
LANGUAGE_ATTRIBUTES = frozenset(("lang", "xml:lang"))
_BLANK_LINES = re.compile(r"((?:\r?\n[ \t]*){2,})")
TRANSLATED_ATTRIBUTES = frozenset(("alt", "aria-label", "placeholder", "title"))


def html_template(source: str, brand_names: tuple[str, ...] = ()) -> Template:
    """Parse an HTML document or fragment, however malformed, into a template."""
    return assemble(html_atoms(source, brand_names))


def html_atoms(
    source: str, brand_names: tuple[str, ...] = (), block: int = 0, text_format: Format | None = None
) -> Iterator[Atom]:
    """Yield the atoms of HTML, which are its pieces of text and markup.

    All atoms get the block number `block`. `text_format` overrides the format of text outside attributes.
    """
    text_format = text_format or _text_format(brand_names)
    for token in tokenize(source):
        match token.kind:
            case TokenKind.TEXT:
                yield from _words(token.raw, text_format, block)
            case TokenKind.OTHER:
                yield Atom(Kind.BREAK, (token.raw,), block=block)
            case TokenKind.START:
                yield _start_atom(token, brand_names, block)
            case TokenKind.END if token.name in VOID_ELEMENTS:
                yield Atom(Kind.BREAK, (token.raw,), block=block)
            case TokenKind.END:
                is_inline = token.name in INLINE_ELEMENTS | INLINE_OPAQUE_ELEMENTS
                yield Atom(Kind.CLOSE, (token.raw,), name=token.name, is_inline=is_inline, block=block)


def _words(raw: str, text_format: Format, block: int) -> Iterator[Atom]:
    """Split text at blank lines, because WordPress and others turn text without `<p>` into paragraphs."""
    for index, part in enumerate(_BLANK_LINES.split(raw)):
        if part:
            kind = Kind.BREAK if index % 2 else Kind.TEXT
            yield Atom(kind, (part,), text_format=text_format, block=block)


def _start_atom(token: Token, brand_names: tuple[str, ...], block: int) -> Atom:
    is_left_alone = token.name in UNHEARD_ELEMENTS
    raw: list[Piece] = []
    position = 0
    for attribute in token.attributes():
        name, quotes = attribute["name"].lower(), attribute.lastgroup or "name"
        value = attribute[quotes] if quotes != "name" else ""
        start, end = attribute.span(quotes)
        is_left_alone |= _forbids_translation(name, value)
        if name in TRANSLATED_ATTRIBUTES and value and quotes != "bare":
            value_format = _attribute_format(brand_names, token.raw[end])
            raw.append(token.raw[position:start])
            raw += assemble([Atom(Kind.TEXT, (value,), text_format=value_format, block=block)])
            position = end
        elif name == "href" and value.startswith("#"):
            raw += (token.raw[position : start + 1], InPageLink(value[1:]))
            position = end
        elif name in LANGUAGE_ATTRIBUTES and value:
            raw += (token.raw[position:start], SourceLanguage(value))
            position = end
    template = (*raw, token.raw[position:]) if not is_left_alone else (token.raw,)
    is_inline = token.name in INLINE_ELEMENTS | INLINE_OPAQUE_ELEMENTS | INLINE_VOID_ELEMENTS
    if token.name in VOID_ELEMENTS or (token.name in ("svg", "math") and token.raw.endswith("/>")):
        return Atom(Kind.SOLID if is_inline else Kind.BREAK, template, block=block)
    is_opaque = is_left_alone or token.name in OPAQUE_ELEMENTS
    return Atom(Kind.OPEN, template, token.name, is_inline=is_inline, is_opaque=is_opaque, block=block)


def _forbids_translation(name: str, value: str) -> bool:
    """Return whether an attribute prevents translation: by an opt-out, or by naming another language."""
    match name:
        case "translate":
            return value.lower() == "no"
        case "class":
            return "notranslate" in value.split()
        case _ if name in LANGUAGE_ATTRIBUTES:
            return value.lower().partition("-")[0] not in ("", SOURCE_LANGUAGE)
        case _:
            return False


@lru_cache(maxsize=32)
def _text_format(brand_names: tuple[str, ...]) -> Format:
    return Format(html.unescape, partial(html.escape, quote=False), opaque_pattern(brand_names))


@lru_cache(maxsize=64)
def _attribute_format(brand_names: tuple[str, ...], quote: str) -> Format:
    reference = "&quot;" if quote == '"' else "&#39;"

    def escape(text: str) -> str:
        return html.escape(text, quote=False).replace(quote, reference)

    return Format(html.unescape, escape, opaque_pattern(brand_names))
