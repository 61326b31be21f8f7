"""Judges whether an engine's answer is a translation at all. Pure.

A good answer that is refused leaves a paragraph in English, and a bad one that is taken is on the site. In
doubt the rules refuse, but those about words say nothing before there are a few.
"""

import re
import unicodedata
from collections import Counter
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from monitoring.articles.translation.codes import plain_text
from monitoring.articles.translation.language import is_clearly_not
from monitoring.articles.translation.negation import has_lost_negation
from monitoring.articles.translation.opaque import opaque_pattern
from monitoring.articles.translation.terms import NO_TERMS, Terms

if TYPE_CHECKING:
    from collections.abc import Callable


class Fault(StrEnum):
    """What is wrong with an answer."""

    EMPTY = "empty"  # no words
    MARKUP = "markup"  # broken codes
    NUMBERS = "numbers"  # one is missing or new
    ADDRESSES = "addresses"  # a new URL, e-mail address, placeholder or shortcode
    LENGTH = "length"  # cut off, or much too long
    REPETITION = "repetition"
    SCRIPT = "script"  # not that of the language
    ENGLISH = "english"  # the source again, or something else in English
    LANGUAGE = "language"  # clearly another than that of the locale
    NEGATION = "negation"  # a "not" is lost
    CHATTER = "chatter"  # a refusal, a preamble or a fence
    TERMS = "terms"  # the operator's translation of a term is missing


FEWEST_LETTERS = 20  # for rules about length and script
FEWEST_WORDS = 6  # for the rule about English
FEWEST_COMMON_WORDS = 3  # in lower case: then it is no name
LONGEST_RATIO = 3.0
SHORTEST_RATIO, SHORTEST_RATIO_OF_IDEOGRAPHS = 0.4, 0.12
MORE_CHARACTERS = 40  # of which any translation may be longer
MOST_ENGLISH = 0.25  # of all words
FEWEST_IN_SCRIPT = 0.3  # of the letters of words that are not in the source
MOST_REPETITIONS = 5
LONGEST_REPEATED = 4  # words
LONGEST_REPEATED_WITHOUT_SPACES = 30  # letters

# Words that are frequent in English, and as a group in no other language.
_FREQUENT_WORDS = """
    the and of to with that this for you your are was have from will not can't it's i'm is but by they which
    there their what when who would about into than them its these be been has an or if we our i'd don't
"""
_ENGLISH_WORDS = frozenset(_FREQUENT_WORDS.split())

_WORD = re.compile(r"[A-Za-z0-9]+|[^\W_]")  # a letter of another script is one

_SCRIPTS = {
    **dict.fromkeys(("ru", "uk", "bg", "sr", "mk", "be", "kk", "ky", "mn", "tg", "cyrl"), ("CYRILLIC",)),
    **dict.fromkeys(("ar", "fa", "ur", "ps", "arab"), ("ARABIC",)),
    **dict.fromkeys(("hi", "mr", "ne", "deva"), ("DEVANAGARI",)),
    **dict.fromkeys(("zh", "yue", "hans", "hant"), ("CJK",)),
    "ja": ("CJK", "HIRAGANA", "KATAKANA"),
    "ko": ("HANGUL",),
    "el": ("GREEK",),
    "he": ("HEBREW",),
    "th": ("THAI",),
    "ka": ("GEORGIAN",),
    "hy": ("ARMENIAN",),
    "bn": ("BENGALI",),
    "ta": ("TAMIL",),
    "te": ("TELUGU",),
    "kn": ("KANNADA",),
    "ml": ("MALAYALAM",),
    "gu": ("GUJARATI",),
    "km": ("KHMER",),
    "lo": ("LAO",),
    "my": ("MYANMAR",),
    "si": ("SINHALA",),
    "am": ("ETHIOPIC",),
    "pa": ("GURMUKHI",),
    "latn": ("LATIN",),
}
_WITHOUT_SPACES = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR"}

# What other languages write with other numbers: ordinals and times of day, and words.
_REWRITTEN = re.compile(r"\d+(?:st|nd|rd|th)\b|\d{1,2}(?:[:.]\d\d)?\s?[ap]\.?m\b", re.IGNORECASE)
_NUMBER_WORDS = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty"
    r"|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|dozens?|half|third|quarter|first|second"
    r"|fourth|fifth|once|twice|noon|midnight"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|(?:sun|mon|tues|wednes|thurs|fri|satur)day)\b",
    re.IGNORECASE,
)
# How models begin before they translate, up to a colon that is not the source's.
_PREAMBLE = re.compile(
    r"(?:sure|certainly|of course|here(?:'s| is| are)|translation|translated text"
    r"|claro|por supuesto|aquí (?:está|tienes|teniu)|traducción|traducció|aqui está|tradução"
    r"|bien sûr|voici|traduction|natürlich|gerne|hier ist|übersetzung|certo|ecco|traduzione)\b[^.]{0,80}[:!]"
    r"|(?:好的|以下|翻译|はい)[^。]{0,40}[:\uff1a]",
    re.IGNORECASE,
)
# How they refuse, and what they add at the end.
_CHATTER = re.compile(
    r"^`{3}|`{3}$"
    r"|\b(?:as an ai|i'm sorry|i am sorry|i can't help|i cannot"
    r"|lo siento,? (?:pero|no)|no puedo (?:ayudar|traducir)\w*|como (?:modelo de lenguaje|una ia)"
    r"|désolée?,? (?:mais|je)|je ne peux pas (?:vous )?(?:aider|traduire)|en tant que (?:modèle|ia)"
    r"|es tut mir leid,? (?:aber|ich|dabei)|als (?:ki|sprachmodell)"
    r"|desculpe,? (?:mas|não)|não posso (?:ajudar|traduzir)\w*|como modelo de linguagem"
    r"|mi dispiace,? (?:ma|non)|non posso (?:aiutar|tradur)\w*|ho sento,? (?:però|no))\b"
    r"|抱歉\uff0c我|(?:无法|不能)(?:帮助|协助|翻译)|申し訳(?:あり|ござい)ませんが|죄송하지만"
    r"|(?:let me know if|hope this helps|espero que (?:esto )?(?:te |le )?(?:ayude|sirva))[^.!]{0,60}[.!]?$",
    re.IGNORECASE,
)
_SORRY = re.compile(r"\b(?:sorry|apolog|regret|unfortunate|afraid|excuse|cannot|can't|an ai)", re.IGNORECASE)


def find_fault(segment: str, answer: str, target: str, terms: Terms = NO_TERMS) -> Fault | None:
    """Say what is wrong with an answer whose codes are right, or return None.

    `segment` is English, `target` is a locale (BCP 47), and `terms` are the operator's.
    """
    source, text = plain_text(segment), plain_text(answer)
    # The first that is broken is told, and those after it are not looked at.
    rules: dict[Fault, Callable[[], bool]] = {
        Fault.ADDRESSES: lambda: _has_new_addresses(source, text),
        Fault.CHATTER: lambda: _is_chatter(source, text),
        Fault.LENGTH: lambda: _is_of_wrong_length(source, text, target),
        Fault.REPETITION: lambda: _repeats_itself(source, text, target),
        Fault.SCRIPT: lambda: _is_in_wrong_script(source, text, target),
        Fault.ENGLISH: lambda: not target.startswith("en") and _is_english(source, text),
        Fault.LANGUAGE: lambda: _is_in_another_language(text, target),
        Fault.NUMBERS: lambda: _has_other_numbers(source, text, target),
        Fault.NEGATION: lambda: has_lost_negation(source, text, target),
        Fault.TERMS: lambda: not terms.into(target).are_heeded(source, text),
    }
    return next((fault for fault, is_broken in rules.items() if is_broken()), None)


def _has_new_addresses(source: str, text: str) -> bool:
    found = Counter(opaque_pattern().findall(text))
    return bool(found - Counter(opaque_pattern().findall(source)))


def _is_chatter(source: str, text: str) -> bool:
    if _PREAMBLE.match(text) and _count_colons(text) > _count_colons(source):
        return True
    return bool(_CHATTER.search(text)) and not _CHATTER.search(source) and not _SORRY.search(source)


def _count_colons(text: str) -> int:
    return sum(unicodedata.normalize("NFKC", char) in {":", "!"} for char in text)


def _is_of_wrong_length(source: str, text: str, target: str) -> bool:
    if len(text) > LONGEST_RATIO * len(source) + MORE_CHARACTERS:
        return True
    shortest = SHORTEST_RATIO_OF_IDEOGRAPHS if _is_without_spaces(target) else SHORTEST_RATIO
    return _count_letters(source) >= FEWEST_LETTERS and len(text) < shortest * len(source)


def _repeats_itself(source: str, text: str, target: str) -> bool:
    phrases = range(1, LONGEST_REPEATED + 1)
    most = max(MOST_REPETITIONS, _most_repetitions(source.split(), phrases))
    if _is_without_spaces(target):
        letters = list(filter(str.isalpha, text))
        if _most_repetitions(letters, range(2, LONGEST_REPEATED_WITHOUT_SPACES + 1)) > most:
            return True
    return _most_repetitions(text.split(), phrases) > most


def _most_repetitions(words: list[str], lengths: range) -> int:
    """Return how many times in a row the most repeated phrase of so many words stands."""
    most = 1
    for length in lengths:
        equal_in_a_row = 0
        for place in range(length, len(words)):
            equal_in_a_row = equal_in_a_row + 1 if words[place] == words[place - length] else 0
            most = max(most, 1 + equal_in_a_row // length)
    return most


def _is_in_wrong_script(source: str, text: str, target: str) -> bool:
    kept = {word.lower() for word in _WORD.findall(source)}  # names and terms are often Latin
    words = (word for word in _WORD.findall(text) if word.lower() not in kept)
    letters = [char for word in words for char in word if char.isalpha()]
    if _count_letters(source) < FEWEST_LETTERS or not letters:
        return False
    in_script = sum(_script_of(char) in _scripts_of(target) for char in letters)
    return in_script < FEWEST_IN_SCRIPT * len(letters)


def _is_english(source: str, text: str) -> bool:
    """Say whether a text is in English. The source again may be a name, if it has few words that are none."""
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text.replace("\u2019", "'"))
    if text == source and sum(map(str.islower, words)) >= FEWEST_COMMON_WORDS:
        return True
    words = [word.lower() for word in words]
    english = [word for word in words if word in _ENGLISH_WORDS]
    return len(words) >= FEWEST_WORDS and len(set(english)) > 1 and len(english) >= MOST_ENGLISH * len(words)


def _is_in_another_language(text: str, target: str) -> bool:
    words = opaque_pattern().sub(" ", text)
    return is_clearly_not(target, words, has_spaces=not _is_without_spaces(target))


def _has_other_numbers(source: str, text: str, target: str) -> bool:
    """Compare digits alone: separators, spaces and the order of numbers belong to the language."""
    source_numbers = _REWRITTEN.sub(" ", source)
    wanted, found = Counter(_digits_of(source_numbers)), Counter(_digits_of(text))
    is_rewritten = _REWRITTEN.search(source) or _NUMBER_WORDS.search(source)
    new = found - wanted
    if _is_without_spaces(target):
        del new["1"]  # "a" and "per" are often written as 1
    if wanted - found or (new and not is_rewritten):
        return True
    digits = _digits_of(text)
    return any(_digits_of(number) not in digits for number in re.findall(r"\d+", source_numbers))


def _digits_of(text: str) -> str:
    """Return the decimal digits of any script, in their order."""
    return "".join(str(unicodedata.digit(char)) for char in text if char.isdecimal())


def _count_letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _is_without_spaces(locale: str) -> bool:
    return not _WITHOUT_SPACES.isdisjoint(_scripts_of(locale))


@lru_cache(maxsize=256)
def _scripts_of(locale: str) -> tuple[str, ...]:
    """Return the scripts that a locale is written in: Latin, unless its script or language says another."""
    language, *subtags = locale.lower().split("-")
    return next((_SCRIPTS[tag] for tag in (*subtags, language) if tag in _SCRIPTS), ("LATIN",))


@lru_cache(maxsize=4096)
def _script_of(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]
