"""Computes the properties of a source segment with which its translations are compared.

The properties are computed only once for all locales and translations.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import eq

from monitoring.articles.translation.inline_codes import plain_text
from monitoring.articles.translation.untranslated import opaque_pattern

# The size of the cache of segments. It is enough for several articles that are each translated into all
# locales at about the same time.
SEGMENTS_KEPT = 2048

MOST_REPETITIONS = 5
FEWEST_SAID_AGAIN = 16  # letters
PHRASES = range(1, 5)  # lengths in words

_WORD = re.compile(r"[A-Za-z0-9]+|[^\W_]")  # each letter outside ASCII counts as a word
_DIGIT = re.compile(r"\d")

# Text that other languages may write with different numbers: ordinals, times of day and number words.
_REWRITTEN = re.compile(r"\d+(?:st|nd|rd|th)\b|\d{1,2}(?:[:.]\d\d)?\s?[ap]\.?m\b", re.IGNORECASE)
_NUMBER_WORDS = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty"
    r"|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|dozens?|half|third|quarter|first|second"
    r"|fourth|fifth|once|twice|noon|midnight"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|(?:sun|mon|tues|wednes|thurs|fri|satur)day)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """The properties of a source segment with which its translations into every language are compared."""

    text: str  # without codes
    addresses: Counter[str]
    letters: int
    words: frozenset[str]  # in lower case
    colons: int
    most_repetitions: int  # how many a translation may have
    says_all_again: bool
    digits: Counter[str]
    numbers: frozenset[str]  # the digits of each number
    has_rewritten_numbers: bool  # whether translations may write numbers with other digits


@lru_cache(maxsize=SEGMENTS_KEPT)
def read_source(segment: str) -> SourceFacts:
    """Compute the properties of an English segment."""
    text = plain_text(segment)
    numbers = _REWRITTEN.sub(" ", text)
    return SourceFacts(
        text=text,
        addresses=Counter(opaque_pattern().findall(text)),
        letters=count_letters(text),
        words=frozenset(word.lower() for word in words_of(text)),
        colons=count_colons(text),
        most_repetitions=max(MOST_REPETITIONS, most_repetitions(text.split(), PHRASES)),
        says_all_again=says_all_again(text, fewest_letters=1),
        digits=Counter(digits_of(numbers)),
        numbers=frozenset(map(digits_of, re.findall(r"\d+", numbers))),
        has_rewritten_numbers=bool(_REWRITTEN.search(text) or _NUMBER_WORDS.search(text)),
    )


def words_of(text: str) -> list[str]:
    """Return the words of a text. Each letter outside ASCII counts as a word."""
    return _WORD.findall(text)


def count_letters(text: str) -> int:
    """Count the letters of all scripts."""
    return sum(map(str.isalpha, text))


def count_colons(text: str) -> int:
    """Count colons and exclamation marks, including full-width ones. Both can end a preamble."""
    return sum(unicodedata.normalize("NFKC", char) in {":", "!"} for char in text)


def digits_of(text: str) -> str:
    """Return the decimal digits of a text, in any script, as ASCII digits in the same order."""
    digits = "".join(_DIGIT.findall(text))
    return digits if digits.isascii() else "".join(str(unicodedata.digit(digit)) for digit in digits)


def most_repetitions(words: Sequence[str], lengths: range) -> int:
    """Return the highest number of times that a phrase occurs in succession.

    `lengths` has the possible lengths of the phrase in words.
    """
    if len(set(words)) == len(words):
        return 1
    most = 1
    for length in lengths:
        is_repeated = bytes(map(eq, words, words[length:]))
        longest = max(map(len, is_repeated.split(b"\0")))
        most = max(most, 1 + longest // length)
    return most


def says_all_again(text: str, fewest_letters: int = FEWEST_SAID_AGAIN) -> bool:
    """Return whether a text consists of the same words twice.

    These words, counted once, must have at least `fewest_letters` letters.
    """
    words = words_of(text.lower())
    half, rest = divmod(len(words), 2)
    said = words[:half]
    return not rest and said == words[half:] and sum(map(len, said)) >= fewest_letters
