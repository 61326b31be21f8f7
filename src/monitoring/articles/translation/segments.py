"""A text as a template of fixed parts and translatable segments.

Rendering a template without translations restores the source exactly.
"""

import html
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple
from unicodedata import category
from urllib.parse import unquote

from monitoring.articles.translation.inline_codes import CODE

# GitHub's extended autolinks (GFM 6.9) extend to the next whitespace or `<`, without trailing punctuation.
# Directly after a letter, `@name` is not a mention or a citation.
_LONGEST_PUNCTUATION = 20
_BARE_ADDRESS = re.compile(r"(?:https?|ftp)://|www\.|[\w.+-]{0,64}@[\w-]")
_PART_OF_ADDRESS_BEFORE = re.compile(r"(?:\w|[^\x00-\x7f])\Z")
_NO_PART_OF_ADDRESS = re.compile(r"[?!.,:;*_~'\")\]|]*(?:[\s<]|\Z)")

_DELIMITER = re.compile(r"\*\*?|__?|~~")
_OPAQUE_EMPHASIS = re.compile(rf"(?P<delimiter>{_DELIMITER.pattern})(?P<inside>.+)(?P=delimiter)", re.DOTALL)


class Segment(NamedTuple):
    """Text for an engine, with inline markup as numbered codes, as in `Read <g1>this</g1>, please`.

    `<g1>..</g1>` is paired markup, and `<x2/>` represents something opaque. The rest is XML-escaped text.
    """

    text: str
    source: "Template"  # the same text as in the document
    codes: Mapping[str, "Template"]
    escape: Callable[[str], str]  # plain text -> escaped text of this format
    block: int = 0  # the number of the segment's paragraph in the document
    links_bare_addresses: bool = False  # whether renderers link bare addresses in this text


@dataclass(frozen=True, slots=True)
class InPageLink:
    """The anchor of an in-page link, which changes with its heading."""

    raw: str


@dataclass(frozen=True, slots=True)
class SourceLanguage:
    """The value of a `lang` attribute that names the source language, such as `en-US`."""

    raw: str


class _Rendered(NamedTuple):
    """A part of a translation. `sign` is the delimiter character of Markdown emphasis, or empty."""

    text: str
    sign: str = ""
    is_end: bool = False

    @property
    def opens(self) -> bool:
        return bool(self.sign) and not self.is_end

    @property
    def closes(self) -> bool:
        return bool(self.sign) and self.is_end


Piece = str | Segment | InPageLink | SourceLanguage
Template = tuple[Piece, ...]
Anchors = Mapping[str, str]  # source anchor -> translated anchor


def segments_of(template: Template) -> list[Segment]:
    """Return all segments, including those in attributes of another segment's markup."""
    found: list[Segment] = []
    for piece in template:
        if isinstance(piece, Segment):
            found.append(piece)
            for code in piece.codes.values():
                found += segments_of(code)
    return found


def has_in_page_links(template: Template) -> bool:
    """Return whether the template has an in-page link."""
    templates = [template, *(code for segment in segments_of(template) for code in segment.codes.values())]
    return any(isinstance(piece, InPageLink) for pieces in templates for piece in pieces)


def in_language(template: Template, language: str) -> Template:
    """Replace the source language in `lang` attributes with `language`."""
    return tuple(_piece_in_language(piece, language) for piece in template)


def _piece_in_language(piece: Piece, language: str) -> Piece:
    match piece:
        case SourceLanguage():
            return language
        case Segment():
            codes = {code: in_language(markup, language) for code, markup in piece.codes.items()}
            return piece._replace(source=in_language(piece.source, language), codes=codes)
        case _:
            return piece


def render(
    template: Template,
    translations: Mapping[str, str],
    left_alone: frozenset[int] = frozenset(),
    anchors: Anchors = MappingProxyType({}),
) -> str:
    """Return the text of a template with translations inserted. `translations` is keyed by segment text.

    Segments in `left_alone` blocks stay unchanged. `anchors` contains new anchors for in-page links.
    """
    return "".join(_render_pieces(template, translations, left_alone, anchors))


def verbatim(template: Template) -> str:
    """Return the source text of a template."""
    if len(template) == 1 and isinstance(template[0], str):
        return template[0]
    return render(template, {})


def _render_pieces(
    template: Template, translations: Mapping[str, str], left_alone: frozenset[int], anchors: Anchors
) -> Iterator[str]:
    for piece in template:
        match piece:
            case str():
                yield piece
            case SourceLanguage():
                yield piece.raw
            case InPageLink():
                anchor = unquote(piece.raw)
                yield anchors.get(anchor) or anchors.get(anchor.lower()) or piece.raw
            case Segment():
                yield _render_segment(piece, translations, left_alone, anchors)


def _render_segment(
    segment: Segment, translations: Mapping[str, str], left_alone: frozenset[int], anchors: Anchors
) -> str:
    translation = translations.get(segment.text, segment.text)
    if translation == segment.text or segment.block in left_alone:
        return render(segment.source, translations, left_alone, anchors)
    entities = _entities_spelled_in(verbatim(segment.source))
    rendered: list[_Rendered] = []
    for piece in filter(None, re.split(f"({CODE.pattern})", translation)):
        if code := segment.codes.get(piece):
            rendered += _emphasis(render(code, translations, left_alone, anchors), is_end="/g" in piece)
        else:
            rendered.append(_Rendered(segment.escape(html.unescape(piece)).translate(entities)))
    pieces = list(_with_blanks_around_emphasis(rendered))
    return "".join(_with_blanks_around_addresses(pieces) if segment.links_bare_addresses else pieces)


def _emphasis(code: str, *, is_end: bool) -> list[_Rendered]:
    """Split the source of an inline code at emphasis delimiters.

    The source may be one delimiter, or a pair of delimiters around opaque text.
    """
    if _DELIMITER.fullmatch(code):
        return [_Rendered(code, code[0], is_end)]
    if pair := _OPAQUE_EMPHASIS.fullmatch(code):
        sign = pair["delimiter"][0]
        ends = _Rendered(pair["delimiter"], sign), _Rendered(pair["delimiter"], sign, is_end=True)
        return [ends[0], _Rendered(pair["inside"]), ends[1]]
    return [_Rendered(code)]


def _with_blanks_around_emphasis(pieces: Sequence[_Rendered]) -> Iterator[str]:
    """Add spaces where `**` between punctuation and a letter would not be a delimiter.

    In languages without spaces, `**` may be in such positions. See CommonMark 6.2 (left- and right-flanking).
    At a segment's edges, no space is needed.
    """
    edge = _Rendered("")
    for place, piece in enumerate(pieces):
        before = pieces[place - 1] if place else edge
        after = pieces[place + 1] if place + 1 < len(pieces) else edge
        if piece.opens and not (before.opens and before.sign == piece.sign):
            others = (each for each in pieces[place + 1 :] if not (each.opens and each.sign == piece.sign))
            inside = next(others, edge).text[:1]
            is_one_run = before.sign == piece.sign
            yield " " * (is_one_run or _needs_blank(piece.sign, before.text[-1:], inside))
        yield piece.text
        if piece.closes and not after.sign:
            others = (each for each in pieces[place::-1] if not (each.closes and each.sign == piece.sign))
            inside = next(others, edge).text[-1:]
            yield " " * _needs_blank(piece.sign, after.text[:1], inside)


def _needs_blank(sign: str, outside: str, inside: str) -> bool:
    """Return whether a delimiter between `outside` and `inside` would be parsed as text."""
    if not outside or outside.isspace() or _is_punctuation(outside):
        return False
    return sign == "_" or _is_punctuation(inside) or category(inside or " ").startswith("S")


def _is_punctuation(char: str) -> bool:
    """Return whether `char` is punctuation in all CommonMark versions. Only the newest counts all symbols."""
    return char in string.punctuation or category(char).startswith("P")


def _with_blanks_around_addresses(pieces: Sequence[str]) -> Iterator[str]:
    """Add spaces so that text next to a bare address does not become part of its link."""
    before = ""
    for index, piece in enumerate(pieces):
        if not _BARE_ADDRESS.match(piece):
            yield piece
        else:
            after = "".join(pieces[index + 1 : index + 4])[:_LONGEST_PUNCTUATION]
            yield " " * bool(_PART_OF_ADDRESS_BEFORE.search(before))
            yield piece
            yield " " * (not _NO_PART_OF_ADDRESS.match(after))
        before = piece or before


def _entities_spelled_in(source: str) -> dict[int, str]:
    """Map non-ASCII characters to the author's entities for them, such as `&nbsp;`."""
    spelled = {html.unescape(entity): entity for entity in re.findall(r"&#?\w{1,32};", source)}
    return {ord(char): entity for char, entity in spelled.items() if len(char) == 1 and not char.isascii()}
