"""Checks that an engine has preserved the inline codes, such as `<g1>`, that represent markup."""

import html
import re
from collections import Counter

CODE = re.compile(r"</?g\d{1,6}>|<x\d{1,6}/>")
_LOOSE_CODE = re.compile(r"<\s{0,9}(/?)\s{0,9}([gGxX])\s{0,9}(\d{1,6})\s{0,9}(/?)\s{0,9}>")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_BREAKABLE_SPACE = re.compile(r"[ \t\n\v\f\r\x1c-\x1f\x85\u2028\u2029]+")  # no-break spaces are kept


def normalise_spaces(text: str) -> str:
    """Replace every run of breakable whitespace, including line breaks, with one space."""
    return _BREAKABLE_SPACE.sub(" ", text)


def has_words(text: str) -> bool:
    """Return whether the text has at least one letter outside its codes."""
    return any(map(str.isalpha, plain_text(text)))


def plain_text(text: str) -> str:
    """Return the visible text: without codes, and unescaped."""
    if "<" in text:
        text = CODE.sub("", text)
    return html.unescape(text)


def accepted(segment: str, answer: object) -> str | None:
    """Return the cleaned `answer`, an engine's translation of `segment`, or None if it must not be used.

    `answer` must have the same inline codes as `segment`, well nested, each in the same parent. A pair
    of codes with words in `segment` must have words in `answer`, too. `answer` must not add a `<`. The
    result is always printable, on one line and XML-escaped.
    """
    if answer == segment:
        return segment
    if not isinstance(answer, str):
        return None
    answer = _cleaned(_LOOSE_CODE.sub(_strict_code, answer))
    if _shape(segment) != _shape(answer) or (has_words(segment) and not has_words(answer)):
        return None
    if plain_text(answer).count("<") > plain_text(segment).count("<"):
        return None
    return answer


def readable(text: str) -> str:
    """Return a segment with `&` and `<` unescaped, for people to read and edit, unless that is ambiguous."""
    shown = html.unescape(text)
    return shown if accepted(text, shown) == text else text


def _strict_code(loose: re.Match[str]) -> str:
    closes, kind, number, is_single = loose.groups()
    return f"<{closes}{kind.lower()}{number}{is_single}>"


def _cleaned(answer: str) -> str:
    cleaned: list[str] = []
    position = 0
    for code in (*CODE.finditer(answer), None):
        text = html.unescape(answer[position : code.start() if code else None])
        cleaned.append(html.escape(normalise_spaces(_UNPRINTABLE.sub("", text)), quote=False))
        if code:
            cleaned.append(code.group())
            position = code.end()
    return "".join(cleaned).strip(" ")


def _shape(text: str) -> Counter[tuple[str, str, bool]] | None:
    """Count codes by parent and by whether they contain words. Returns None if they are not well nested."""
    shape: Counter[tuple[str, str, bool]] = Counter()
    path, has_word, position = [""], [False], 0
    for code in CODE.finditer(text):
        has_word[-1] |= has_words(text[position : code.start()])
        position = code.end()
        tag = code.group()
        if tag.startswith("<x"):
            shape[path[-1], tag, False] += 1
        elif not tag.startswith("</"):
            path.append(tag)
            has_word.append(False)
        elif path.pop() == tag.replace("/", ""):
            held_word = has_word.pop()
            has_word[-1] |= held_word
            shape[path[-1], tag, held_word] += 1
        else:
            return None
    return shape if path == [""] else None
