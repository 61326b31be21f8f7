"""Converts segments to and from Apertium's stream format.

Inline codes become word-bound blanks, which Apertium moves together with their words. `Read <g1>this</g1>`
becomes `Read [[g1]]this[[/]]`. A code without words, such as `<x2/>`, becomes an unknown word in such blanks.
"""

import html
import re
from collections.abc import Iterator
from itertools import takewhile

from monitoring.articles.translation.inline_codes import CODE

# In a segment with more codes than this, pairs can rarely be restored, so the texts between the codes are
# translated instead.
MAX_CODES = 50

_OPAQUE_WORD = "Xqz"
# Even escaped, a final `^` hangs the pipeline and `~` is lost, so both are sent as private-use characters.
# NUL, which would end the segment, and lone surrogates, which UTF-8 cannot encode, are dropped.
_STAND_INS = str.maketrans("^~", "\ue05e\ue07e", "".join(map(chr, (0, *range(0xD800, 0xE000)))))
_STOOD_FOR = str.maketrans("\ue05e\ue07e", "^~")
_SENTENCE_END = "[][\n]"  # tells the tagger that the text ends here
_SPECIAL = re.compile(r"[\\\[\]{}^$/<>@]")
_PART = re.compile(
    r"\[\[(?P<codes>[^\[\]]*)\]\](?P<bound>(?:\\.|[^\[\\])*)\[\[/\]\]|\[[^\]]*\]|(?P<free>(?:\\.|[^\[\\])+)",
    re.DOTALL,
)
_FIRST_LETTER = re.compile(r"^(?:<[^>]*>|[^\w<])*(?P<letter>[^\W\d_])")

Word = tuple[tuple[str, ...], str]  # the enclosing pairs, outermost first, and the text


def to_stream(segment: str) -> str:
    """Convert a segment to Apertium's stream format."""
    path: list[str] = []
    stream: list[str] = []
    for part in re.split(f"({CODE.pattern})", segment):
        if not CODE.fullmatch(part):
            text = _SPECIAL.sub(r"\\\g<0>", html.unescape(part).translate(_STAND_INS))
            stream.append(f"[[{path[-1]}]]{text}[[/]]" if path and text.strip() else text)
        elif part.startswith("<x"):
            stream.append(f"[[{part[1:-2]}]]{_OPAQUE_WORD}[[/]]")
        elif part.startswith("</"):
            path.pop()
        else:
            path.append(part[1:-1])
    return "".join(stream) + _SENTENCE_END


def from_stream(stream: str, segment: str) -> str:
    """Convert Apertium's output to a translation of `segment`.

    If a pair of codes cannot be restored, the codes in the result are badly nested, and the later check
    of codes rejects the translation.
    """
    paths = _paths(segment)
    words = list(_words(stream, paths))
    for code, path in paths.items():
        if code.startswith("g"):
            words = _without_gaps(words, path)
    answer: list[str] = []
    opened: tuple[str, ...] = ()
    for path, text in [*words, ((), "")]:
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(opened, path, strict=False)))
        answer += [f"</{code}>" for code in reversed(opened[shared:])]
        answer += [f"<{code}>" for code in path[shared:]]
        answer.append(text)
        opened = path
    return _capitalised_like(segment, re.sub(" {2,}", " ", "".join(answer)).strip())


def _paths(segment: str) -> dict[str, tuple[str, ...]]:
    """Map each code to its enclosing pairs, outermost first. The pair of a paired code is included."""
    paths: dict[str, tuple[str, ...]] = {}
    path: tuple[str, ...] = ()
    for code in CODE.findall(segment):
        if code.startswith("<x"):
            paths[code[1:-2]] = path
        elif code.startswith("</"):
            path = path[:-1]
        else:
            path = paths[code[1:-1]] = (*path, code[1:-1])
    return paths


def _words(stream: str, paths: dict[str, tuple[str, ...]]) -> Iterator[Word]:
    for part in _PART.finditer(stream):
        raw = part["bound"] or part["free"] or ""
        text = html.escape(re.sub(r"\\(.)", r"\1", raw, flags=re.DOTALL).translate(_STOOD_FOR), quote=False)
        codes = [code for code in re.split(r"\W+", part["codes"] or "") if code in paths]
        for code in codes:
            if code.startswith("x"):
                text = text.replace(_OPAQUE_WORD, f"<{code}/>", 1)
        yield max((paths[code] for code in codes), key=len, default=()), text


def _without_gaps(words: list[Word], path: tuple[str, ...]) -> list[Word]:
    """Move words between the first and the last word of a pair of codes into the pair."""
    inside = [index for index, (word_path, _) in enumerate(words) if word_path[: len(path)] == path]
    gap = range(inside[0], inside[-1]) if inside else range(0)
    return [
        (path if index in gap and word_path == path[:-1] else word_path, text)
        for index, (word_path, text) in enumerate(words)
    ]


def _capitalised_like(segment: str, answer: str) -> str:
    first, translated = (_FIRST_LETTER.search(text) for text in (segment, answer))
    if not (first and translated and first["letter"].isupper()):
        return answer
    return answer[: translated.start("letter")] + translated["letter"].upper() + answer[translated.end() :]
