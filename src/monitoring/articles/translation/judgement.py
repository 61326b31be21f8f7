"""Checks whether the output of an engine is a translation. Has no side effects.

If a good translation is rejected, a paragraph stays in English. If a bad translation is accepted, it appears
on the site. The rules reject a doubtful translation. But rules about words apply only to texts with a minimum
number of words.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum

from monitoring.articles.translation.code_places import misplaces_codes
from monitoring.articles.translation.inline_codes import plain_text
from monitoring.articles.translation.language import is_clearly_not
from monitoring.articles.translation.mended_answers import LEAST_OF_WHOLE
from monitoring.articles.translation.scripts import is_without_spaces, script_of, scripts_of
from monitoring.articles.translation.source_facts import (
    PHRASES,
    SourceFacts,
    count_colons,
    digits_of,
    most_repetitions,
    read_source,
    says_all_again,
    words_of,
)
from monitoring.articles.translation.terms import NO_TERMS, Terms
from monitoring.articles.translation.untranslated import opaque_pattern


class Fault(StrEnum):
    """What is wrong with an engine's translation."""

    EMPTY = "empty"  # no words
    MARKUP = "markup"  # broken codes, or codes that split words
    BORDERS = "borders"  # new quotes or Markdown markers, or missing quotes
    NUMBERS = "numbers"  # a number is missing or new
    ADDRESSES = "addresses"  # a new URL, e-mail address, placeholder or shortcode
    LENGTH = "length"  # cut off, or much too long
    REPETITION = "repetition"
    SCRIPT = "script"  # not the language's script
    ENGLISH = "english"  # the unchanged source, or other English text
    LANGUAGE = "language"  # clearly not the locale's language
    NEGATION = "negation"  # a "not" is missing
    CHATTER = "chatter"  # a refusal, a preamble or a fence
    TERMS = "terms"  # the operator's translation of a term is missing


FEWEST_LETTERS = 20  # for rules about length and script
LONGEST_SHORT = 80  # characters; a translation up to this length is checked together with others
FEWEST_SHORT = 6  # number of short translations that are enough to check them together
FEWEST_WORDS = 6  # for the rule about English
FEWEST_COMMON_WORDS = 3  # lower-case words; a text with this many is not a name
LONGEST_RATIO = 3.0
SHORTEST_RATIO, SHORTEST_RATIO_OF_IDEOGRAPHS = 0.4, 0.12
MORE_CHARACTERS = 40  # any translation may be this much longer than its source
MOST_ENGLISH = 0.25  # a text with at least this share of frequent English words counts as English
FEWEST_IN_SCRIPT = 0.3  # minimum share of letters in the right script, in words that are not in the source
LONGEST_REPEATED_WITHOUT_SPACES = 30  # letters

# Frequent English words. No other language uses several of them often.
_FREQUENT_WORDS = """
    the and of to with that this for you your are was have from will not can't it's i'm is but by they which
    there their what when who would about into than them its these be been has an or if we our i'd don't
"""
_ENGLISH_WORDS = frozenset(_FREQUENT_WORDS.split())

# Introductions that models put before a translation. They end with a colon that the source lacks.
_PREAMBLE = re.compile(
    r"(?:sure|certainly|of course|here(?:'s| is| are)|translation|translated text"
    r"|claro|por supuesto|aquí (?:está|tienes|teniu)|traducción|traducció|aqui está|tradução"
    r"|bien sûr|voici|traduction|natürlich|gerne|hier ist|übersetzung|certo|ecco|traduzione)\b[^.]{0,80}[:!]"
    r"|(?:好的|以下|翻译|はい)[^。]{0,40}[:\uff1a]",
    re.IGNORECASE,
)
# Models' refusals, and remarks that models add at the end.
_CHATTER = re.compile(
    r"^`{3}|`{3}$"
    r"|\b(?:as an ai|i'm sorry|i am sorry|i can't help|i cannot"
    r"|lo siento,? (?:pero|no)|no puedo (?:ayudar|traducir)\w*|como (?:modelo de lenguaje|una ia)"
    r"|désolée?,? (?:mais|je)|je ne peux pas (?:vous )?(?:aider|traduire)|en tant que (?:modèle|ia)"
    r"|es tut mir leid,? (?:aber|ich|dabei)|als (?:ki|sprachmodell)"
    r"|desculpe,? (?:mas|não)|não posso (?:ajudar|traduzir)\w*|como modelo de linguagem"
    r"|mi dispiace,? (?:ma|non)|non posso (?:aiutar|tradur)\w*|ho sento,? (?:però|no))\b"
    r"|抱歉\uff0c我|(?:无法|不能)(?:帮助|协助|翻译)|申し訳(?:あり|ござい)ませんが|죄송하지만"
    r"|\b(?:translator'?s?'? note|note: (?:i|this translation|the (?:original|translation))"
    r"|nota d(?:el|o|e la) tradu\w+|note du traducteur|anmerkung des übersetzers)\b|译者注|訳注"
    r"|(?:let me know if|hope this helps|espero que (?:esto )?(?:te |le )?(?:ayude|sirva))[^.!]{0,60}[.!]?$",
    re.IGNORECASE,
)
_SORRY = re.compile(r"\b(?:sorry|apolog|regret|unfortunate|afraid|excuse|cannot|can't|an ai)", re.IGNORECASE)

# Markdown markers that models add. In plain text they have no effect.
_MARKDOWN_SIGNS = ("**", "__", "~~", "`")
_BLOCK_SIGN = re.compile(r"(?:#{1,6}|[*+>\u2022-])\s")
_BRACES = ("{}", "[]")
_QUOTE = re.compile(r"[\"\uff02\u201c-\u201f\u00ab\u00bb\u2039\u203a\u300c-\u300f]")
_OTHER_QUOTE = re.compile(r"['\u2018-\u201b\u2013\u2014]")  # some languages quote with dashes
_SENTENCE_END = re.compile(r"[.!?\u2026]\Z")
_ANY_END = re.compile(r"[^\w\s]\Z")

# Translators may replace "not" with a word such as "invalid", "fail", "stop" or "only", so such words count
# as negations, too. Languages that are not in this table have no such list, because their lists rejected too
# many good translations (docs/translation.md).
_NEGATING_WORDS = {
    "es": r"""no|nunca|jamás|sin|ni|ning[uú]n\w*|nada|nadie|tampoco|salvo|excepto|s[oó]lo|únicamente|antes
        |in(?:v[aá]l|corr|cap|exis|sufic|acces|dispo|compat|activ)\w*|impo\w+|imp[ií]d\w*|des(?:act|hab|con|pub|ac)\w*
        |dej\w+[ ]de|fall\w+|falt\w+|evit\w*|error\w*""",
    "pt": r"""não|nunca|jamais|sem|nem|nenhum\w*|nada|ninguém|tampouco|salvo|exceto|só|somente|apenas|antes
        |in(?:v[aá]l|corr|cap|exis|sufic|acess|dispo|compat|ativ)\w*|impo\w+|imped\w*
        |des(?:at|ab|hab|con|pub|ac)\w*|deix\w+[ ]de|fal[ht]\w+|evit\w*|erro\w*""",
    "ca": r"""no|mai|sense|ni|cap|res|ning[uú]\w*|tampoc|excepte|només|abans
        |in(?:v[aà]l|corr|cap|exis|sufic|acces|dispo|compat|activ)\w*|impo\w+|imped\w*|des(?:act|hab|con|pub|ac)\w*
        |deix\w+[ ]de|fall\w*|falt\w*|evit\w*|error\w*""",
}
_NEGATIONS = {
    language: re.compile(rf"\b(?:{words})\b", re.IGNORECASE | re.VERBOSE)
    for language, words in _NEGATING_WORDS.items()
}


# Matches a negation. "Whether or not", "if not" and "not only" do not count as negations.
_ENGLISH_NEGATION = re.compile(
    r"(?<!\bor )(?<!\bif )\b(?:not(?! only\b| limited\b)|never|cannot|no longer|\w+n['\u2019]t)\b",
    re.IGNORECASE,
)


def find_fault(segment: str, answer: str, target: str, terms: Terms = NO_TERMS) -> Fault | None:
    """Return the first fault of a translation whose inline codes are correct, or None if it has none.

    `segment` is English, `answer` is its translation, `target` is a BCP 47 locale, and `terms` are the
    operator's terms.
    """
    source, text = read_source(segment), plain_text(answer)
    # Rules after the first fault are not evaluated.
    rules: dict[Fault, Callable[[], bool]] = {
        Fault.ADDRESSES: lambda: bool(Counter(opaque_pattern().findall(text)) - source.addresses),
        Fault.CHATTER: lambda: _is_chatter(source, text),
        Fault.MARKUP: lambda: misplaces_codes(segment, answer, target),
        Fault.BORDERS: lambda: _has_other_borders(source.text, text),
        Fault.LENGTH: lambda: _is_of_wrong_length(source, text, target),
        Fault.REPETITION: lambda: _repeats_itself(source, text, target),
        Fault.SCRIPT: lambda: _is_in_wrong_script(source, text, target),
        Fault.ENGLISH: lambda: not target.startswith("en") and _is_english(source, text),
        Fault.LANGUAGE: lambda: _is_in_another_language(text, target),
        Fault.NUMBERS: lambda: _has_other_numbers(source, text, target),
        Fault.NEGATION: lambda: _has_lost_negation(source.text, text, target),
        Fault.TERMS: lambda: not terms.into(target).are_heeded(source.text, text),
    }
    return next((fault for fault, is_broken in rules.items() if is_broken()), None)


def find_short_in_another_language(answers: Mapping[str, str], target: str) -> frozenset[str]:
    """Return the segments with short translations, if these translations together are in the wrong language.

    A translation of at most `LONGEST_SHORT` characters is too short to check alone. `answers` maps an
    article's segments to their accepted translations. Words that are also in the segment, such as names, are
    ignored.
    """
    new = {
        segment: _new_words(segment, text)
        for segment, answer in answers.items()
        if len(text := plain_text(answer)) <= LONGEST_SHORT
    }
    short = {segment: words for segment, words in new.items() if words}
    is_other = len(short) >= FEWEST_SHORT and _is_in_another_language(" ".join(short.values()), target)
    return frozenset(short) if is_other else frozenset()


def _new_words(segment: str, text: str) -> str:
    """Return the words in a text that are not in its segment."""
    known = read_source(segment).words
    words = opaque_pattern().sub(" ", text).split()
    return " ".join(word for word in words if known.isdisjoint(each.lower() for each in words_of(word)))


def _is_chatter(source: SourceFacts, text: str) -> bool:
    if _PREAMBLE.match(text) and count_colons(text) > source.colons:
        return True
    is_chatter = bool(_CHATTER.search(text))
    return is_chatter and not _CHATTER.search(source.text) and not _SORRY.search(source.text)


def _has_other_borders(source: str, text: str) -> bool:
    """Return whether Markdown markers or enclosing marks were added, or enclosing quotes were removed.

    Enclosing marks are quotes and brackets around the text.
    """
    if any(text.count(sign) > source.count(sign) for sign in _MARKDOWN_SIGNS):
        return True
    if source[:1].isalnum() and _BLOCK_SIGN.match(text):
        return True
    if any(_is_within(text, *pair) and not _is_within(source, *pair) for pair in _BRACES):
        return True
    if _is_quoted(source):
        return not (_QUOTE.search(text) or _OTHER_QUOTE.search(text))
    return _is_quoted(text) and len(_QUOTE.findall(text)) >= len(_QUOTE.findall(source)) + 2


def _is_within(text: str, opening: str, closing: str) -> bool:
    return text.startswith(opening) and text.endswith(closing)


def _is_quoted(text: str) -> bool:
    return len(text) > 1 and all(map(_QUOTE.match, (text[0], text[-1])))


def _is_of_wrong_length(source: SourceFacts, text: str, target: str) -> bool:
    if len(text) > LONGEST_RATIO * len(source.text) + MORE_CHARACTERS:
        return True
    shortest = SHORTEST_RATIO_OF_IDEOGRAPHS if is_without_spaces(target) else SHORTEST_RATIO
    if shortest == SHORTEST_RATIO and _SENTENCE_END.search(source.text) and not _ANY_END.search(text):
        shortest = LEAST_OF_WHOLE
    return source.letters >= FEWEST_LETTERS and len(text) < shortest * len(source.text)


def _repeats_itself(source: SourceFacts, text: str, target: str) -> bool:
    if is_without_spaces(target):
        letters = list(filter(str.isalpha, text))
        lengths = range(2, LONGEST_REPEATED_WITHOUT_SPACES + 1)
        if most_repetitions(letters, lengths) > source.most_repetitions:
            return True
    if says_all_again(text) and not source.says_all_again:
        return True
    return most_repetitions(text.split(), PHRASES) > source.most_repetitions


def _is_in_wrong_script(source: SourceFacts, text: str, target: str) -> bool:
    scripts = scripts_of(target)
    if source.letters < FEWEST_LETTERS or (text.isascii() and "LATIN" in scripts):
        return False
    # Words of the source are ignored, because names and terms often stay in Latin script.
    new = Counter("".join(word for word in words_of(text) if word.lower() not in source.words))
    letters = {char: count for char, count in new.items() if char.isalpha()}
    in_script = sum(count for char, count in letters.items() if script_of(char) in scripts)
    return in_script < FEWEST_IN_SCRIPT * sum(letters.values())


def _is_english(source: SourceFacts, text: str) -> bool:
    """Return whether a text is in English.

    A text that contains the source text counts as English, unless the source text may be a name.
    """
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text.replace("\u2019", "'"))
    common_words = set(filter(str.islower, source.text.split()))
    if source.text in text and len(common_words) >= FEWEST_COMMON_WORDS:
        return True
    words = [word.lower() for word in words]
    english = [word for word in words if word in _ENGLISH_WORDS]
    return len(words) >= FEWEST_WORDS and len(set(english)) > 1 and len(english) >= MOST_ENGLISH * len(words)


def _is_in_another_language(text: str, target: str) -> bool:
    words = opaque_pattern().sub(" ", text)
    return is_clearly_not(target, words, has_spaces=not is_without_spaces(target))


def _has_other_numbers(source: SourceFacts, text: str, target: str) -> bool:
    """Return whether the translation lacks digits of the source, or has new digits.

    Separators, spaces and the order of numbers are ignored, because they depend on the language.
    """
    digits = digits_of(text)
    found = Counter(digits)
    new = found - source.digits
    if is_without_spaces(target):
        del new["1"]  # "a" and "per" are often written as 1
    if source.digits - found or (new and not source.has_rewritten_numbers):
        return True
    return any(number not in digits for number in source.numbers)


def _has_lost_negation(source: str, text: str, target: str) -> bool:
    """Return whether an English text has exactly one negation and its translation has none."""
    negation = _NEGATIONS.get(target.lower().partition("-")[0])
    return negation is not None and len(_ENGLISH_NEGATION.findall(source)) == 1 and not negation.search(text)
