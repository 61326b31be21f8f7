"""Builds a template of segments from atoms, which are the pieces that a scanner finds in a document.

Unpaired markup ends a run of text, so that no translation can move or lose the markup. All steps are
iterative and linear in the document's length.
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import accumulate
from types import MappingProxyType
from typing import NamedTuple

from monitoring.articles.translation.inline_codes import has_words, normalise_spaces
from monitoring.articles.translation.segments import Piece, Segment, Template, verbatim

_NO_CODES: Mapping[str, Template] = MappingProxyType({})
_EDGE_BLANKS = " \t\n\r\f\ufeff"  # the last is a byte order mark
_BLOCK_ATTRIBUTES = re.compile(r"\{:?\s*[#.][^{}]*\}")  # `{#id .class}` at the end of a heading


class Kind(Enum):
    """An atom's effect on the text around it."""

    TEXT = auto()
    OPEN = auto()  # markup that a CLOSE of the same name may pair with
    CLOSE = auto()
    SOLID = auto()  # inline and opaque, such as an image, a code span or a URL
    BREAK = auto()  # words before and after it belong to different segments


_PAIRED = frozenset((Kind.OPEN, Kind.CLOSE))


@dataclass(frozen=True, slots=True)
class Format:
    """How to decode and escape a format's text, and which parts of it are opaque."""

    decode: Callable[[str], str]
    escape: Callable[[str], str]
    opaque: re.Pattern[str]
    links_bare_addresses: bool = False  # whether renderers turn bare addresses into links, as on GitHub


class Atom(NamedTuple):  # created three times as fast as a frozen dataclass
    """A piece of a document. The concatenated `raw` templates of all atoms are the whole document."""

    kind: Kind
    raw: Template
    name: str = ""  # of OPEN and CLOSE: pairs have the same name
    text_format: Format | None = None  # of TEXT
    text: str | None = None  # of TEXT: the visible text, if it differs from the decoded `raw`
    is_inline: bool = True
    is_opaque: bool = False  # of OPEN: nothing up to its CLOSE is translated
    changed_raw: Template | None = None  # replaces `raw` if the text before it changes
    block: int = 0


def assemble(atoms: Iterable[Atom]) -> Template:
    """Build a template with the same verbatim text as the atoms. Only a few atoms are in memory at a time."""
    template: list[Piece] = []
    for stretch, end in _split_at_breaks(_close_opaque_elements(atoms)):
        template += _assemble_stretch(stretch)
        template += end
    return tuple(template)


def _split_at_breaks(atoms: Iterable[Atom]) -> Iterator[tuple[list[Atom], Template]]:
    """Yield the atoms before each break with the break's source, and finally those after the last break."""
    stretch: list[Atom] = []
    for atom in atoms:
        if atom.kind is Kind.BREAK:
            yield stretch, atom.raw
            stretch = []
        else:
            stretch.append(atom)
    yield stretch, ()


def _assemble_stretch(atoms: Sequence[Atom]) -> Template:
    """Build the template for the atoms between two breaks."""
    if len(atoms) == 1 and (words := _only_words(atoms[0])):
        return words
    template: list[Piece] = []
    for run, end in _split_at_breaks(_break_unpaired(atoms)):
        template += _make_template([part for atom in run for part in _split_opaque_words(atom)])
        template += end
    return tuple(template)


def _only_words(atom: Atom) -> Template | None:
    """Return the template for a text atom without opaque parts, or None for other atoms.

    This is a shortcut for the most common case.
    """
    text_format = atom.text_format
    if not text_format or atom.text is not None:
        return None
    raw = verbatim(atom.raw)
    if text_format.opaque.search(raw):
        return None
    words = raw.strip(_EDGE_BLANKS)
    text = text_format.decode(words)
    if not has_words(text):
        return (raw,)
    before, _, after = raw.partition(words)
    encoded = normalise_spaces(html.escape(text, quote=False))
    segment = Segment(
        encoded, (words,), _NO_CODES, text_format.escape, atom.block, text_format.links_bare_addresses
    )
    return tuple(piece for piece in (before, segment, after) if piece)


def _close_opaque_elements(atoms: Iterable[Atom]) -> Iterator[Atom]:
    """Merge each opaque element into one atom. An unclosed element extends to the end.

    Only its start tag may have translatable text, such as a title.
    """
    remaining = iter(atoms)
    for atom in remaining:
        yield _opaque_element(atom, remaining) if atom.kind is Kind.OPEN and atom.is_opaque else atom


def _opaque_element(start: Atom, remaining: Iterator[Atom]) -> Atom:
    content: list[str] = []
    is_inline, depth = start.is_inline, 1
    while depth and (atom := next(remaining, None)):
        if atom.name == start.name:
            depth += {Kind.OPEN: 1, Kind.CLOSE: -1}.get(atom.kind, 0)
        is_inline &= atom.kind is not Kind.BREAK
        content.append(verbatim(atom.raw))
    kind = Kind.SOLID if is_inline and not depth else Kind.BREAK
    return Atom(kind, (*start.raw, "".join(content)), block=start.block)


def _break_unpaired(atoms: Sequence[Atom]) -> Iterator[Atom]:
    """Turn markup into a BREAK if it is not inline, if it has no partner, or if it encloses such markup.

    `atoms` are the atoms between two breaks.
    """
    if _PAIRED.isdisjoint({atom.kind for atom in atoms}):
        yield from atoms
        return
    partners = _partners(atoms)
    is_lone = (
        atom.kind in (Kind.OPEN, Kind.CLOSE) and index not in partners for index, atom in enumerate(atoms)
    )
    lone_before = [0, *accumulate(is_lone)]
    for index, atom in enumerate(atoms):
        if atom.kind in (Kind.OPEN, Kind.CLOSE):
            start, end = sorted((index, partners.get(index, index)))
            if index not in partners or lone_before[end] > lone_before[start]:
                yield atom._replace(kind=Kind.BREAK)
                continue
        yield atom


def _partners(atoms: Sequence[Atom]) -> dict[int, int]:
    """Map the index of each inline OPEN to its CLOSE and vice versa. No pair spans a break."""
    partners: dict[int, int] = {}
    opened: list[int] = []
    names: Counter[str] = Counter()
    for index, atom in enumerate(atoms):
        if atom.kind is Kind.BREAK or not atom.is_inline:
            opened.clear()
            names.clear()
        elif atom.kind is Kind.OPEN:
            opened.append(index)
            names[atom.name] += 1
        elif atom.kind is Kind.CLOSE and names[atom.name]:
            while True:
                candidate = opened.pop()
                names[atoms[candidate].name] -= 1
                if atoms[candidate].name == atom.name:
                    break
            partners[candidate], partners[index] = index, candidate
    return partners


def _split_opaque_words(atom: Atom) -> Iterator[Atom]:
    if not atom.text_format or atom.text is not None:  # there is no text to search for opaque parts
        yield atom
        return
    raw, position, opaque = verbatim(atom.raw), 0, atom.text_format.opaque
    if raw and raw.strip(_EDGE_BLANKS) == raw and not opaque.search(raw):
        yield atom
        return
    for match in opaque.finditer(raw):
        yield from _split_blank_edges(atom, raw[position : match.start()])
        yield Atom(Kind.SOLID, (match.group(),))
        position = match.end()
    yield from _split_blank_edges(atom, raw[position:])


def _split_blank_edges(atom: Atom, raw: str) -> Iterator[Atom]:
    words_start = len(raw) - len(raw.lstrip(_EDGE_BLANKS))
    words_end = max(words_start, len(raw.rstrip(_EDGE_BLANKS)))
    for part in (raw[:words_start], raw[words_start:words_end], raw[words_end:]):
        if part:
            yield atom._replace(raw=(part,))


def _make_template(atoms: Sequence[Atom]) -> Template:
    """Return a template with one segment, or none if there are no words. All markup in `atoms` is paired.

    Whitespace and pairs around the text stay outside the segment. Attributes at the end of the text stay
    outside, too, because in Markdown they have no effect without the space before them.
    """
    texts = [_text_of(atom) for atom in atoms]
    if not any(map(has_words, texts)):
        return _raw(atoms)
    partners = _partners(atoms)
    start, end = 0, len(atoms)
    while True:
        if atoms[start].kind is Kind.TEXT and not texts[start].strip(_EDGE_BLANKS):
            start += 1
        elif atoms[end - 1].kind is Kind.TEXT and not texts[end - 1].strip(_EDGE_BLANKS):
            end -= 1
        elif partners.get(start) == end - 1:
            start, end = start + 1, end - 1
        elif atoms[end - 1].kind is Kind.SOLID and _BLOCK_ATTRIBUTES.fullmatch(verbatim(atoms[end - 1].raw)):
            end -= 1
        else:
            segment = _segment(atoms, texts, range(start, end), partners)
            return (*_raw(atoms[:start]), segment, *_raw(atoms[end:]))


def _segment(
    atoms: Sequence[Atom], texts: Sequence[str], span: range, partners: Mapping[int, int]
) -> Segment:
    words_before = [0, *accumulate(map(has_words, texts))] if partners else []
    encoded: list[str] = []
    codes: dict[str, Template] = {}
    numbers: dict[int, int] = {}  # index of a CLOSE -> number of its pair
    index, number = span.start, 0
    while index < span.stop:
        atom, end = atoms[index], index + 1
        if atom.kind is Kind.TEXT:
            encoded.append(html.escape(texts[index], quote=False))
        else:
            if index in numbers:
                code, raw = f"</g{numbers[index]}>", atom.changed_raw or atom.raw
            elif index in partners and words_before[partners[index]] > words_before[index]:
                numbers[partners[index]] = number = number + 1
                code, raw = f"<g{number}>", atom.raw
            else:  # opaque, or a pair around nothing to translate
                end = partners.get(index, index) + 1
                number += 1
                code, raw = f"<x{number}/>", _raw(atoms[index:end])
            codes[code] = raw
            encoded.append(code)
        index = end
    text_format = next(atom.text_format for atom in atoms if atom.text_format)
    return Segment(
        text=normalise_spaces("".join(encoded)),
        source=_raw(atoms[span.start : span.stop]),
        codes=codes,
        escape=text_format.escape,
        links_bare_addresses=text_format.links_bare_addresses,
        block=atoms[span.start].block,
    )


def _text_of(atom: Atom) -> str:
    if atom.text is None and atom.text_format:
        return atom.text_format.decode(verbatim(atom.raw))
    return atom.text or ""


def _raw(atoms: Sequence[Atom]) -> Template:
    return tuple(piece for atom in atoms for piece in atom.raw)
