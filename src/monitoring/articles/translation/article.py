"""Translates a publisher's payload field by field. Only reader-visible text changes."""

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType
from typing import Any

from monitoring.articles.field_names import HTML_TEXTS, MARKDOWN_TEXTS, OTHER_TEXTS, TITLES
from monitoring.articles.translation.content_formats import TextFormat, content_format
from monitoring.articles.translation.documents import SourceDocument, TranslatedDocument, read_document
from monitoring.articles.translation.engines.batches import split
from monitoring.articles.translation.engines.metered import Cost
from monitoring.articles.translation.engines.protocol import BatchLimit, Engine
from monitoring.articles.translation.fenced_article import unwrapped
from monitoring.articles.translation.html_source import SOURCE_LANGUAGE
from monitoring.articles.translation.judgement import Fault
from monitoring.articles.translation.memory_budget import (
    MOST_BYTES,
    SMALL_BYTES,
    TooMuchMarkupError,
    predict_bytes,
)
from monitoring.articles.translation.translated_segments import (
    FindFault,
    Submit,
    do_now,
    segment_hash,
    translate_segments,
)
from monitoring.articles.translation.untranslated import opaque_pattern


class FieldContent(Enum):
    """The kind of content in a reader-visible field."""

    WORDS = auto()
    CONTENT = auto()  # in the article's declared format
    HTML = auto()
    MARKDOWN = auto()


Fields = FieldContent | list[Any] | dict[str, Any]  # which parts of a JSON value are translated

_IMAGE = {"alt": FieldContent.WORDS, "title": FieldContent.WORDS, "caption": FieldContent.WORDS}
_CARD = {"title": FieldContent.WORDS, "description": FieldContent.WORDS}
_META = {
    f"{prefix}{separator}{name}": FieldContent.WORDS
    for prefix in ("meta", "og", "twitter")
    for separator, names in (("_", ("title", "description")), ("", ("Title", "Description")))
    for name in names
}
_ARTICLE = {  # in reading order
    **dict.fromkeys(TITLES, FieldContent.WORDS),
    "subtitle": FieldContent.WORDS,
    "excerpt": FieldContent.WORDS,
    "summary": FieldContent.WORDS,
    "description": FieldContent.WORDS,
    **dict.fromkeys(OTHER_TEXTS, FieldContent.CONTENT),
    **dict.fromkeys(HTML_TEXTS, FieldContent.HTML),
    **dict.fromkeys(MARKDOWN_TEXTS, FieldContent.MARKDOWN),
    **_META,
    "seo": _META | _CARD | {"og": _CARD, "open_graph": _CARD, "twitter": _CARD},
    "images": [_IMAGE],
    "main_image": _IMAGE,
}
FIELDS_FOR_READERS = frozenset(_ARTICLE)
_PAYLOAD = {"article": _ARTICLE, "main_image": _IMAGE}


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Disable the garbage collector while an article is parsed, because a collection stops every thread.

    Parsing creates millions of objects that the collector would visit, but no reference cycles to collect. If
    several threads parse articles, only the first thread disables the collector, and enables it again once
    its own article is parsed. So the collector still runs from time to time.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@dataclass(frozen=True, slots=True)
class TranslatedArticle:
    """A payload in another language, and the new texts for the translation memory."""

    payload: dict[str, Any]
    learned: Mapping[str, str]  # segment hash -> text, for segments that the engine translated this time
    segment_count: int
    corrected_count: int  # segments of the payload with a human correction
    # segment hash -> fault, for segments left in the source language because there was no acceptable
    # translation that fitted the markup
    refused: Mapping[str, str]
    faults: Mapping[str, int]  # fault -> number of engine translations with this fault
    is_demonstration: bool
    engine: str  # the engine's name

    @property
    def refused_count(self) -> int:
        """The number of segments left in the source language."""
        return len(self.refused)


@dataclass(frozen=True, slots=True)
class SourceArticle:
    """A parsed payload, ready for translation into any number of languages.

    If parsing would take too much memory, this object has no documents and no segments.
    """

    payload: Mapping[str, Any]
    documents: "Documents"
    hashes: Mapping[str, str]  # segment -> its key in the translation memory
    predicted_bytes: int

    @property
    def is_small(self) -> bool:
        """Whether the article is small enough to be translated into many languages at once."""
        return self.predicted_bytes <= SMALL_BYTES

    def cost(self, limit: BatchLimit, known: Mapping[str, str] = MappingProxyType({})) -> Cost:
        """Return the cost of requesting each segment that is not in `known` once.

        `known` maps segment hashes to existing translations.
        """
        unknown = [segment for segment, hash_ in self.hashes.items() if hash_ not in known]
        return Cost(sum(map(len, unknown)), len(list(split(unknown, limit))))

    def translate(  # noqa: PLR0913 (keywords, four with a default)
        self,
        *,
        engine: Engine,
        source: str = "en",
        target: str,
        known: Mapping[str, str] = MappingProxyType({}),
        find_fault: FindFault | None = None,
        submit: Submit = do_now,
        corrections: Mapping[str, str] = MappingProxyType({}),
    ) -> TranslatedArticle:
        """Translate the reader-visible texts.

        `known` maps segment hashes to texts from the translation memory. `corrections` maps segment hashes to
        human corrections, which take precedence.

        A segment whose translation would change a document's structure stays in the source language in that
        document, and counts as refused. Its translation is still learned, because other documents may be able
        to use it.

        `find_fault` checks translations whose inline codes are correct. Without `find_fault`, all such
        translations are accepted. `submit` runs the engine requests.

        The payload is not modified, but the result shares the payload's untranslated objects. Blocks while
        the engine works. Raises the engine's errors, or `TooMuchMarkupError`.
        """
        if self.predicted_bytes > MOST_BYTES:
            raise TooMuchMarkupError
        translations = translate_segments(
            self.hashes, engine, source, target, known, find_fault, submit, corrections
        )

        results = self._translated_documents(translations.texts, target)
        left_alone = _left_alone(results)

        def translated(field: FieldContent, text: str) -> str:
            return results[_format_of(field, text, self.payload), text].text

        return TranslatedArticle(
            payload=_mapped(self.payload, _PAYLOAD, translated),
            learned=translations.learned,
            segment_count=len(translations.texts) + len(translations.refused),
            corrected_count=len(translations.corrected - left_alone),
            refused={
                self.hashes[segment]: fault
                for segment, fault in {
                    **translations.refused,
                    **dict.fromkeys(left_alone, Fault.MARKUP),
                }.items()
            },
            faults=translations.faults + Counter({Fault.MARKUP: len(left_alone)}),
            is_demonstration=engine.is_demonstration,
            engine=engine.name,
        )

    def find_unfit(self, texts: Mapping[str, str]) -> frozenset[str]:
        """Return the segments whose translations in `texts` would change a document's structure."""
        try:
            return _left_alone(self._translated_documents(texts))
        except TooMuchMarkupError:
            return frozenset(texts)

    @collector_at_rest()
    def _translated_documents(
        self, texts: Mapping[str, str], target: str = SOURCE_LANGUAGE
    ) -> "TranslatedDocuments":
        return {
            key: document.in_language(target).translated(texts) for key, document in self.documents.items()
        }


def _left_alone(documents: "TranslatedDocuments") -> frozenset[str]:
    return frozenset().union(*(document.left_alone for document in documents.values()))


Path = tuple[str | int, ...]  # the path of a field in a payload, such as ("article", "images", 0, "alt")
Texts = dict[Path, tuple[TextFormat, str]]


def texts_for_readers(payload: Mapping[str, Any]) -> Texts:
    """Return the format and text of each reader-visible field in a payload, keyed by the field's path."""
    found: Texts = {}

    def note(path: Path, value: Any, fields: Fields) -> None:  # noqa: ANN401 (it is JSON)
        match value, fields:
            case str(), FieldContent():
                found[path] = _format_of(fields, value, payload), value
            case dict(), dict():
                for name in filter(value.__contains__, fields):
                    note((*path, name), value[name], fields[name])
            case list(), list():
                for place, item in enumerate(value):
                    note((*path, place), item, fields[0])

    note((), payload, _PAYLOAD)
    return found


Documents = dict[tuple[TextFormat, str], SourceDocument]
TranslatedDocuments = dict[tuple[TextFormat, str], TranslatedDocument]


@collector_at_rest()
def read_article(payload: Mapping[str, Any], brand_names: Sequence[str] = ()) -> SourceArticle:
    """Parse each distinct reader-visible text of a payload, unless that would take too much memory."""
    opaque = opaque_pattern(tuple(brand_names))
    predicted_bytes = sum(
        predict_bytes(text, is_markdown=text_format.is_markdown, opaque=opaque)
        for text_format, text in set(texts_for_readers(payload).values())
    )
    if predicted_bytes > MOST_BYTES:
        return SourceArticle(payload, {}, {}, predicted_bytes)
    documents: Documents = {}

    def read(field: FieldContent, text: str) -> str:
        text_format = _format_of(field, text, payload)
        if (text_format, text) not in documents:
            documents[text_format, text] = read_document(text, text_format, tuple(brand_names))
        return text

    _mapped(payload, _PAYLOAD, read)
    every = (segment for document in documents.values() for segment in document.segments())
    hashes = {segment: segment_hash(segment) for segment in dict.fromkeys(every)}
    return SourceArticle(payload, documents, hashes, predicted_bytes)


def _format_of(field: FieldContent, text: str, payload: Mapping[str, Any]) -> TextFormat:
    match field:
        case FieldContent.CONTENT:
            return content_format(payload["article"].get("format"), unwrapped(text))
        case FieldContent.HTML:
            return TextFormat.HTML
        case FieldContent.MARKDOWN:
            return TextFormat.MARKDOWN
        case _:
            return TextFormat.PLAIN


def _mapped(value: Any, fields: Fields, change: Callable[[FieldContent, str], str]) -> Any:  # noqa: ANN401 (it is JSON)
    """Return a copy of a JSON value with `change` applied to the texts in `fields`.

    The order of the members stays the same.
    """
    match value, fields:
        case str(), FieldContent():
            return change(fields, value)
        case dict(), dict():
            return {
                name: _mapped(member, fields[name], change) if name in fields else member
                for name, member in value.items()
            }
        case list(), list():
            return [_mapped(item, fields[0], change) for item in value]
        case _:
            return value
