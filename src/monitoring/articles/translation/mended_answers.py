"""Repairs unambiguous faults in an engine's translations. Has no side effects."""

import html
import re
from unicodedata import category

from monitoring.articles.translation.inline_codes import CODE, plain_text
from monitoring.articles.translation.scripts import scripts_of

_MOST_ESCAPES = 3
_REFERENCE = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,7}|#x[\da-f]{1,6});", re.IGNORECASE)
_BLANKS_WITHIN = re.compile(
    r"(?P<opening>(?:<g\d{1,6}>)+)(?P<after>\ +) | (?P<before>\ +)(?P<closing>(?:</g\d{1,6}>)+)", re.VERBOSE
)
_NO_BREAK_SPACE = "\u00a0"

# Format characters (category Cf) that some scripts need. In other scripts, they are unwanted leftovers from a
# page or a model.
_JOINERS, _MARKS, _BREAK = "\u200c\u200d", "\u200e\u200f\u061c", "\u200b"
_NEEDS_NO_JOINERS = frozenset(("LATIN", "CYRILLIC", "GREEK", "CJK", "HIRAGANA", "KATAKANA", "HANGUL"))
_NEEDS_BREAKS = frozenset(("THAI", "LAO", "KHMER", "MYANMAR"))
_NEEDS_MARKS = frozenset(("ARABIC", "HEBREW"))

# Scripts that end a sentence with "."
_WITH_STOPS = frozenset(("LATIN", "CYRILLIC", "GREEK", "HEBREW", "ARABIC", "GEORGIAN", "HANGUL"))
_TWO_STOPS = re.compile(r"[^.]\.\.\Z")
_STOP_BEHIND_WORD = re.compile(r"(?<![\w.])\w{4,}\.\Z")  # "etc." and "S.A." keep their stops
LEAST_OF_WHOLE = 0.65  # of the segment's length; a shorter text without a final stop is probably cut off


def mended(segment: str, answer: object, target: str) -> object:
    """Repair an engine's translation of a segment, before the inline codes of both are compared.

    Doubly escaped references are unescaped. Spaces just inside a pair of codes are moved outside the pair.
    Format characters are removed unless the segment has them or the language's script uses them. A full stop
    at the end is added or removed to match the segment.
    """
    if not isinstance(answer, str) or answer == segment:
        return answer
    answer = _read_references(segment, answer)
    answer = _without_format(segment, answer, scripts_of(target))
    if not _BLANKS_WITHIN.search(segment):
        answer = _BLANKS_WITHIN.sub(r"\g<after>\g<opening>\g<closing>\g<before>", answer)
    return _with_final_stop(segment, answer.strip(), scripts_of(target))


def _read_references(segment: str, answer: str) -> str:
    if _REFERENCE.search(plain_text(segment)):
        return answer
    has_codes = bool(CODE.search(segment))
    for _ in range(_MOST_ESCAPES):
        less_escaped = html.unescape(answer)
        hides_codes = has_codes and not CODE.search(answer) and CODE.search(less_escaped)
        if not hides_codes and not _REFERENCE.search(plain_text(answer)):
            break
        answer = less_escaped
    return answer


def _without_format(segment: str, answer: str, scripts: tuple[str, ...]) -> str:
    answer = answer.replace("&nbsp;", _NO_BREAK_SPACE)
    if _NO_BREAK_SPACE in answer and " " not in answer and " " in segment:
        answer = answer.replace(_NO_BREAK_SPACE, " ")
    if answer.isascii():
        return answer
    kept = set(segment)
    kept |= set("" if _NEEDS_NO_JOINERS.issuperset(scripts) else _JOINERS)
    kept |= set("" if _NEEDS_MARKS.isdisjoint(scripts) else _MARKS)
    kept |= set("" if _NEEDS_BREAKS.isdisjoint(scripts) else _BREAK)
    return "".join(char for char in answer if char in kept or category(char) != "Cf")


def _with_final_stop(segment: str, answer: str, scripts: tuple[str, ...]) -> str:
    """Add or remove a final stop to match the segment's."""
    if _WITH_STOPS.isdisjoint(scripts):
        return answer
    if not segment.endswith("."):
        is_new = segment[-1:].isalnum() and _STOP_BEHIND_WORD.search(answer)
        return answer[:-1] if is_new else answer
    if answer[-1:].isalnum() and len(answer) >= LEAST_OF_WHOLE * len(segment):
        return f"{answer}."
    return answer[:-1] if _TWO_STOPS.search(answer) and not segment.endswith("..") else answer
