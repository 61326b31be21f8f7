"""Parses texts in the formats that publishers use, and inserts their translations."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from monitoring.articles.translation.content_formats import TextFormat
from monitoring.articles.translation.fenced_article import unwrapped
from monitoring.articles.translation.front_matter import front_matter_length
from monitoring.articles.translation.html_source import html_template
from monitoring.articles.translation.memory_budget import MOST_BYTES, TooMuchMarkupError, predict_bytes
from monitoring.articles.translation.segmentation import Atom, Format, Kind, assemble
from monitoring.articles.translation.segments import (
    Segment,
    Template,
    has_in_page_links,
    in_language,
    render,
    segments_of,
)
from monitoring.articles.translation.untranslated import opaque_pattern

if TYPE_CHECKING:  # these imports would load a library
    from monitoring.articles.translation.markdown_structure import SourceStructure

# The maximum number of characters to parse in the search for blocks whose translation changes a document's
# structure. It is enough to find several such blocks in a 10 KB article.
MOST_CHARACTERS_READ = 500_000


_HTML_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,2000}>")


@dataclass(frozen=True, slots=True)
class TranslatedDocument:
    """A translated text, and the segments left untranslated to preserve its structure."""

    text: str
    left_alone: frozenset[str]


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A text and its parsed template."""

    source: str
    text_format: TextFormat
    template: Template
    structure: SourceStructure | None = None  # only for Markdown, without the front matter

    def segments(self) -> list[str]:
        """Return the segments for an engine to translate."""
        return [segment.text for segment in segments_of(self.template)]

    def in_language(self, language: str) -> SourceDocument:
        """Return the document with the source language in `lang` attributes replaced by `language`."""
        return replace(self, template=in_language(self.template, language))

    def translated(self, translations: Mapping[str, str]) -> TranslatedDocument:
        """Insert translations. A Markdown block whose translation would change the structure stays unchanged.

        Raises `TooMuchMarkupError` if parsing the translated Markdown would take too much memory, for example
        because it has many escaped characters.
        """
        rendered = render(self.template, translations)
        if self.structure is None or rendered == self.source:
            return TranslatedDocument(rendered, frozenset())
        left_alone = frozenset() if self._is_sure_to_stay(translations) else self._changed_blocks(rendered)
        if left_alone:
            rendered = render(self.template, translations, left_alone)
        if left_alone is None or (left_alone and self._changed_blocks(rendered) != frozenset()):
            left_alone = self._blocks_to_leave_alone(translations)
            rendered = render(self.template, translations, left_alone)
        text = self._with_moved_anchors(rendered, translations, left_alone)
        return TranslatedDocument(text, self._untranslated(translations, left_alone))

    def _is_sure_to_stay(self, translations: Mapping[str, str]) -> bool:
        structure, translated = self.structure, self._translated_segments(translations)
        return structure is not None and all(
            structure.is_sure_to_stay(segment, translations[segment.text]) for segment in translated
        )

    def _blocks_to_leave_alone(self, translations: Mapping[str, str]) -> frozenset[int]:
        """Find the blocks whose translations change the document's structure, by bisection.

        Each step parses the whole document. Once `MOST_CHARACTERS_READ` characters have been parsed, all
        blocks that have not been checked stay untranslated, too.
        """
        left_alone = frozenset(segment.block for segment in self._translated_segments(translations))
        untried = [sorted(left_alone)]
        tries = MOST_CHARACTERS_READ // len(self.source)
        while untried and (tries := tries - 1) >= 0:
            blocks = untried.pop()
            remaining = left_alone.difference(blocks)
            changed = self._changed_blocks(render(self.template, translations, remaining))
            if changed == frozenset():
                left_alone = remaining
            elif changed and not changed.isdisjoint(blocks):
                untried.append([block for block in blocks if block not in changed])
            elif len(blocks) > 1:
                middle = len(blocks) // 2
                untried += (blocks[middle:], blocks[:middle])
        return left_alone

    def _translated_segments(self, translations: Mapping[str, str]) -> list[Segment]:
        return [
            segment
            for segment in segments_of(self.template)
            if translations.get(segment.text, segment.text) != segment.text
        ]

    def _untranslated(self, translations: Mapping[str, str], left_alone: frozenset[int]) -> frozenset[str]:
        segments = self._translated_segments(translations) if left_alone else ()
        return frozenset(segment.text for segment in segments if segment.block in left_alone)

    def _with_moved_anchors(
        self, rendered: str, translations: Mapping[str, str], left_alone: frozenset[int]
    ) -> str:
        """Return the text with updated in-page links, because a heading's anchor is derived from its text."""
        if not has_in_page_links(self.template):
            return rendered
        from monitoring.articles.translation.markdown_anchors import moved_anchors  # noqa: PLC0415

        body, rendered_body = (text[front_matter_length(text) :] for text in (self.source, rendered))
        anchors = moved_anchors(body, rendered_body)
        relinked = render(self.template, translations, left_alone, anchors)
        return relinked if self._changed_blocks(relinked) == frozenset() else rendered

    def _changed_blocks(self, rendered: str) -> frozenset[int] | None:
        if self.structure is None:  # only Markdown documents have a structure
            return frozenset()
        if predict_bytes(rendered, is_markdown=True) > MOST_BYTES:
            raise TooMuchMarkupError
        return self.structure.changed_blocks(rendered[front_matter_length(rendered) :])


def read_document(source: str, text_format: TextFormat, brand_names: tuple[str, ...] = ()) -> SourceDocument:
    """Parse a text into a document. Plain text with tags or character references is parsed as HTML."""
    if text_format is not TextFormat.PLAIN:
        source = unwrapped(source)
    if text_format is TextFormat.PLAIN and (_HTML_TAG.search(source) or html.unescape(source) != source):
        text_format = TextFormat.HTML
    if text_format.is_markdown:
        from monitoring.articles.translation.markdown_source import read_markdown  # noqa: PLC0415 - 2 MiB

        return SourceDocument(
            source, text_format, *read_markdown(source, brand_names, is_mdx=text_format is TextFormat.MDX)
        )
    read = html_template if text_format is TextFormat.HTML else _plain_template
    return SourceDocument(source, text_format, read(source, brand_names))


def _plain_template(source: str, brand_names: tuple[str, ...]) -> Template:
    """Parse plain text, in which each line is a segment."""
    parts = re.split(r"([\r\n]+)", source)
    kinds = (Kind.BREAK if index % 2 else Kind.TEXT for index in range(len(parts)))
    words = Format(str, str, opaque_pattern(brand_names))
    atoms = [
        Atom(kind, (part,), text_format=words if kind is Kind.TEXT else None)
        for kind, part in zip(kinds, parts, strict=True)
    ]
    return assemble(atoms)
