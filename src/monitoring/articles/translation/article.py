"""Translates a publisher's payload field by field: only words for readers change."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from monitoring.articles.translation.documents import Document, TextFormat, content_format, read_document
from monitoring.articles.translation.engines.protocol import Engine
from monitoring.articles.translation.translated_segments import (
    FindFault,
    segment_hash,
    translate_segments,
)


class Field(Enum):
    """What a field for readers contains."""

    WORDS = auto()
    CONTENT = auto()  # in the article's declared format
    HTML = auto()
    MARKDOWN = auto()


Fields = Field | list[Any] | dict[str, Any]  # which parts of a JSON value are translated

_IMAGE = {"alt": Field.WORDS, "title": Field.WORDS, "caption": Field.WORDS}
_CARD = {"title": Field.WORDS, "description": Field.WORDS}
_META = {
    f"{prefix}{separator}{name}": Field.WORDS
    for prefix in ("meta", "og", "twitter")
    for separator, names in (("_", ("title", "description")), ("", ("Title", "Description")))
    for name in names
}
_ARTICLE = {  # in the order readers meet them
    "title": Field.WORDS,
    "subtitle": Field.WORDS,
    "excerpt": Field.WORDS,
    "summary": Field.WORDS,
    "description": Field.WORDS,
    "content": Field.CONTENT,
    "content_html": Field.HTML,
    "content_markdown": Field.MARKDOWN,
    **_META,
    "seo": _META | _CARD | {"og": _CARD, "open_graph": _CARD, "twitter": _CARD},
    "images": [_IMAGE],
    "main_image": _IMAGE,
}
_PAYLOAD = {"article": _ARTICLE, "main_image": _IMAGE}


@dataclass(frozen=True, slots=True)
class TranslatedArticle:
    """A payload in another language, and what the translation memory can learn from it."""

    payload: dict[str, Any]
    learned: Mapping[str, str]  # segment hash -> text, for segments the engine translated this time
    segment_count: int
    refused_count: int  # segments left in the source language, because no answer was acceptable
    faults: Mapping[str, int]  # what was wrong with answers
    is_demonstration: bool


def segment_hashes(payload: Mapping[str, Any], brand_names: Sequence[str] = ()) -> list[str]:
    """List the hashes to look up in the translation memory before translating, each once."""
    return list(dict.fromkeys(map(segment_hash, _segments(_documents(payload, brand_names)))))


def translate_article(  # noqa: PLR0913 (keywords, five with a default)
    payload: Mapping[str, Any],
    *,
    engine: Engine,
    source: str = "en",
    target: str,
    brand_names: Sequence[str] = (),
    known: Mapping[str, str] | None = None,
    find_fault: FindFault | None = None,
) -> TranslatedArticle:
    """Translate what readers see; `known` has the translation memory's texts by segment hash.

    `find_fault` judges answers whose codes are right; without it all of them are taken.

    The payload itself is not changed; the result shares the objects that are not translated. Blocks while the
    engine works, and raises its errors.
    """
    documents = _documents(payload, brand_names)
    translations = translate_segments(_segments(documents), engine, source, target, known or {}, find_fault)

    def translated(field: Field, text: str) -> str:
        return documents[_format_of(field, text, payload), text].translated(translations.texts)

    return TranslatedArticle(
        payload=_mapped(payload, _PAYLOAD, translated),
        learned=translations.learned,
        segment_count=len(translations.texts) + len(translations.refused),
        refused_count=len(translations.refused),
        faults=translations.faults,
        is_demonstration=engine.is_demonstration,
    )


Path = tuple[str | int, ...]  # of a field in a payload, such as ("article", "images", 0, "alt")
Texts = dict[Path, tuple[TextFormat, str]]


def texts_for_readers(payload: Mapping[str, Any]) -> Texts:
    """Find what readers see of a payload: format and text of each translated field."""
    found: Texts = {}

    def note(path: Path, value: Any, fields: Fields) -> None:  # noqa: ANN401 (it is JSON)
        match value, fields:
            case str(), Field():
                found[path] = _format_of(fields, value, payload), value
            case dict(), dict():
                for name in filter(value.__contains__, fields):
                    note((*path, name), value[name], fields[name])
            case list(), list():
                for place, item in enumerate(value):
                    note((*path, place), item, fields[0])

    note((), payload, _PAYLOAD)
    return found


Documents = dict[tuple[TextFormat, str], Document]


def _documents(payload: Mapping[str, Any], brand_names: Sequence[str]) -> Documents:
    """Read every translated field, each text once."""
    documents: Documents = {}

    def read(field: Field, text: str) -> str:
        text_format = _format_of(field, text, payload)
        if (text_format, text) not in documents:
            documents[text_format, text] = read_document(text, text_format, tuple(brand_names))
        return text

    _mapped(payload, _PAYLOAD, read)
    return documents


def _segments(documents: Documents) -> list[str]:
    return [segment for document in documents.values() for segment in document.segments()]


def _format_of(field: Field, text: str, payload: Mapping[str, Any]) -> TextFormat:
    match field:
        case Field.CONTENT:
            return content_format(payload["article"].get("format"), text)
        case Field.HTML:
            return TextFormat.HTML
        case Field.MARKDOWN:
            return TextFormat.MARKDOWN
        case _:
            return TextFormat.PLAIN


def _mapped(value: Any, fields: Fields, change: Callable[[Field, str], str]) -> Any:  # noqa: ANN401 (it is JSON)
    """Rebuild JSON with the texts of the named fields changed, in the same order."""
    match value, fields:
        case str(), Field():
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
