"""A text as a template: parts that stay unchanged, and segments of words that an engine may replace.

Rendering a template without translations gives the source back, character by character.
"""

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from monitoring.articles.translation.codes import CODE


@dataclass(frozen=True, slots=True)
class Segment:
    """Words for an engine, with inline markup as numbered codes, as in `Read <g1>this</g1>, please`.

    `<g1>..</g1>` is paired markup, `<x2/>` stands for something opaque; everything else is XML-escaped text.
    """

    text: str
    source: "Template"  # the same words as they stand in the document
    codes: Mapping[str, "Template"]
    escape: Callable[[str], str]  # plain text -> text of this format that no markup can hide in
    block: int = 0  # the paragraph of the document this belongs to


Template = tuple[str | Segment, ...]


def segments_of(template: Template) -> list[Segment]:
    """List every segment, also those in attributes of another segment's markup."""
    found: list[Segment] = []
    for piece in template:
        if isinstance(piece, Segment):
            found.append(piece)
            for code in piece.codes.values():
                found += segments_of(code)
    return found


def render(
    template: Template, translations: Mapping[str, str], left_alone: frozenset[int] = frozenset()
) -> str:
    """Put translations (by segment text) in place. Segments without one, or of `left_alone` blocks, stay."""
    return "".join(
        piece if isinstance(piece, str) else _render_segment(piece, translations, left_alone)
        for piece in template
    )


def verbatim(template: Template) -> str:
    """Return the source text of a template."""
    return render(template, {})


def _render_segment(segment: Segment, translations: Mapping[str, str], left_alone: frozenset[int]) -> str:
    translation = translations.get(segment.text, segment.text)
    if translation == segment.text or segment.block in left_alone:
        return render(segment.source, translations, left_alone)
    entities = _entities_spelled_in(verbatim(segment.source))
    rendered: list[str] = []
    position = 0
    for code in CODE.finditer(translation):
        rendered.append(
            segment.escape(html.unescape(translation[position : code.start()])).translate(entities)
        )
        rendered.append(render(segment.codes[code.group()], translations, left_alone))
        position = code.end()
    rendered.append(segment.escape(html.unescape(translation[position:])).translate(entities))
    return "".join(rendered)


def _entities_spelled_in(source: str) -> dict[int, str]:
    """Find the author's spellings, such as `&nbsp;`, to keep them for the same characters."""
    spelled = {html.unescape(entity): entity for entity in re.findall(r"&#?\w{1,32};", source)}
    return {ord(char): entity for char, entity in spelled.items() if len(char) == 1 and not char.isascii()}
