"""Checks the positions of inline codes in an engine's translation. For example, no code may split a word.

Has no side effects.
"""

import html
import re
from itertools import accumulate
from unicodedata import category

from monitoring.articles.translation.inline_codes import CODE
from monitoring.articles.translation.scripts import is_without_spaces

# Languages in which a word's suffix may follow a code, and languages in which "the" or "and" is written as a
# prefix of the next word.
_WITH_ENDINGS = frozenset("az et eu fi hu ka kk kn ky ml mn mr ta te tk tr tt uz".split())  # noqa: SIM905 - a table
_WITH_PREFIXES = frozenset(("ar", "he", "fa", "ur"))

_SUPERSCRIPT = re.compile(r"(<g(\d{1,6})>)[^<>]{1,3}</g\2>")  # such as "TM", or the exponent 2
_SINGLE = "\ufffc"  # replaces `<x1/>`, and is neither a letter nor a space


def misplaces_codes(segment: str, answer: str, target: str) -> bool:
    """Return whether an inline code in `answer` splits a word, or has lost the space or word next to it.

    `segment` and `answer` have the same codes. A code that already splits a word in `segment` may also do
    so in `answer`. Always returns False for languages without spaces.
    """
    if "<" not in segment or is_without_spaces(target):
        return False
    language = target.lower().partition("-")[0]
    before, after = _characters_beside_codes(segment)
    found_before, found_after = _characters_beside_codes(answer)
    if language not in _WITH_PREFIXES:
        opening = (code for code in before if not code.startswith("</"))
        if any(_is_glued(before[code], found_before[code]) for code in opening):
            return True
    if language not in _WITH_ENDINGS:
        closing = (code for code in after if not code.startswith("<g"))
        if any(_is_glued(after[code], found_after[code]) for code in closing):
            return True
    superscripts = [code for code, _ in _SUPERSCRIPT.findall(segment)]
    return any(_is_of_word(before[code]) and not found_before[code].strip() for code in superscripts)


def _characters_beside_codes(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Map each code to the visible character before it, and to the visible character after it.

    The character is "" if the code is at an end of the text.
    """
    parts = re.split(f"({CODE.pattern})", text)
    firsts = [_seen(part)[:1] for part in parts]
    lasts = [_seen(part)[-1:] for part in parts]
    before = list(accumulate(lasts, _latest, initial=""))[:-1]
    after = list(accumulate(reversed(firsts), _latest, initial=""))[:-1][::-1]
    codes = range(1, len(parts), 2)
    return {parts[place]: before[place] for place in codes}, {parts[place]: after[place] for place in codes}


def _seen(part: str) -> str:
    if CODE.fullmatch(part):
        return _SINGLE if part.startswith("<x") else ""
    return html.unescape(part)


def _latest(known: str, new: str) -> str:
    return new or known


def _is_glued(character: str, found: str) -> bool:
    return _is_of_word(found) and not _is_of_word(character)


def _is_of_word(character: str) -> bool:
    return character.isalnum() or (bool(character) and category(character).startswith("M"))
