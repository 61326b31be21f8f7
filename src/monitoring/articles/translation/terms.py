"""Terms that have a prescribed translation, or that must not be translated.

The terms are in a CSV file (RFC 4180, UTF-8) with the columns `COLUMNS`. A line without a locale applies to
all locales. A term without a translation stays unchanged.
"""

import csv
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from monitoring.settings.value_types import normalise_locale

COLUMNS = ["locale", "term", "translation"]

EVERY_LOCALE = ""

# Allows for inflection: a quarter of a word's letters may differ at its end, but at most this many.
MOST_OTHER_LETTERS = 2


class Terms:
    """The terms of all locales."""

    def __init__(self, by_locale: Mapping[str, Mapping[str, str]] = MappingProxyType({})) -> None:
        self._by_locale = by_locale
        self._prepared: dict[str, LocaleTerms] = {}

    def into(self, locale: str) -> "LocaleTerms":
        """Return the terms for a locale: its own terms, its language's terms, and the terms for all locales.

        If a term has several translations, the translation for the most specific locale is used.
        """
        if locale not in self._prepared:
            merged: dict[str, str] = {}
            for tag in (EVERY_LOCALE, *_from_language_to(locale)):
                merged |= self._by_locale.get(tag, {})
            self._prepared[locale] = LocaleTerms(merged)
        return self._prepared[locale]


class LocaleTerms:
    """The terms of one locale."""

    def __init__(self, translations: Mapping[str, str]) -> None:
        self.translations = translations
        # Longest first. `Polar` precedes `polar`, which matches any case.
        self._terms = sorted(translations, key=lambda term: (-len(term), _is_in_lower_case(term)))

    def find(self, text: str) -> dict[str, str]:
        """Return the terms that occur as whole words in a text, longest first, with their translations.

        A lower-case term matches any case. A term that occurs only inside a longer matching term is omitted.
        """
        text = _with_single_spaces(text)
        lowered = text.lower()
        # There may be thousands of terms. A fast search first selects the few that can occur in the text.
        near = [term for term in self._terms if term.lower() in lowered]
        pattern = rf"(?<!\w)(?:{'|'.join(f'({_spelled(term)})' for term in near)})(?!\w)"
        found = {match.lastindex for match in re.finditer(pattern, text)} if near else set()
        return {term: self.translations[term] for place, term in enumerate(near, 1) if place in found}

    def are_heeded(self, source: str, answer: str) -> bool:
        """Return whether `answer` contains the translation of each term that occurs in `source`."""
        return all(_has_translation(answer, *found) for found in self.find(source).items())


NO_TERMS = Terms()


def read_terms(path: Path) -> Terms:
    """Read a terms file. Raises OSError, or ValueError with a message that usually names the line."""
    by_locale: dict[str, dict[str, str]] = {}
    first_lines: dict[tuple[str, str], int] = {}
    for line, (locale, term, translation) in _rows(path):
        first_line = first_lines.setdefault((locale, term), line)
        if first_line != line:
            raise ValueError(f"line {line} repeats the locale and the term of line {first_line}")
        by_locale.setdefault(locale, {})[term] = translation or term
    return Terms(by_locale)


def _rows(path: Path) -> Iterator[tuple[int, tuple[str, str, str]]]:
    with path.open(encoding="utf-8-sig", newline="") as file:  # spreadsheets write a byte order mark
        reader = csv.reader(file, strict=True)
        try:
            if next(reader, []) != COLUMNS:
                raise ValueError(f"line 1 must be {','.join(COLUMNS)}")
            for row in filter(None, reader):
                yield reader.line_num, _read_row(row, reader.line_num)
        except csv.Error as error:
            raise ValueError(f"line {reader.line_num} is not CSV: {error}") from None
        except UnicodeDecodeError:
            raise ValueError("is not UTF-8") from None


def _read_row(row: list[str], line: int) -> tuple[str, str, str]:
    if len(row) != len(COLUMNS):
        raise ValueError(f"line {line} must have {len(COLUMNS)} fields")
    locale, term, translation = map(_with_single_spaces, row)
    if not term:
        raise ValueError(f"line {line} has no term")
    if any(unicodedata.category(char) == "Cc" for char in term + translation):
        raise ValueError(f"line {line} has a control character")
    try:
        return locale and normalise_locale(locale), term, translation
    except ValueError:
        raise ValueError(f"line {line} must name a BCP 47 tag, such as pt or pt-BR, or no locale") from None


def _from_language_to(locale: str) -> list[str]:
    """Return the prefixes of a locale: `zh`, `zh-Hant`, `zh-Hant-TW`."""
    subtags = locale.split("-")
    return ["-".join(subtags[:count]) for count in range(1, len(subtags) + 1)]


def _is_in_lower_case(term: str) -> bool:
    return term == term.lower()


def _spelled(term: str) -> str:
    """Return the pattern of a term. A lower-case term matches any case."""
    return f"(?i:{re.escape(term)})" if _is_in_lower_case(term) else re.escape(term)


def _with_single_spaces(text: str) -> str:
    return " ".join(text.split())


def _has_translation(answer: str, term: str, translation: str) -> bool:
    if translation == term:
        return bool(re.search(_spelled(term), _with_single_spaces(answer)))
    answer = answer.casefold()
    return all(_beginning(word) in answer for word in translation.casefold().split())


def _beginning(word: str) -> str:
    return word[: len(word) - min(MOST_OTHER_LETTERS, len(word) // 4)]
