"""Splits HTML into tokens like the HTML standard's tokenizer, without loss.

The concatenated tokens equal the source. Hostile input takes linear time, because quantifiers are possessive,
and because anything unclosed extends to the end, as in a browser.
"""

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

RAW_TEXT_ELEMENTS = frozenset(
    {"iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp"}
)

_MARKUP = re.compile(r"<(?=[A-Za-z/!?])")
_TAG = re.compile(
    r"""</?(?P<name>[A-Za-z][^\s/>]*+)
    (?P<attributes>(?>(?:[\s/]++|[^\s/>][^\s/>=]*+(?>(?:\s*+=\s*+(?>(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)?))?))*))>""",
    re.VERBOSE,
)
_ATTRIBUTE = re.compile(
    r"""(?P<name>[^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"(?P<double>[^"]*+)"|'(?P<single>[^']*+)'|(?P<bare>[^\s>]*+)))?"""
)
_SCRIPT_SIGN = re.compile(r"<!--|-->|</?script(?=[\t\n\f\r />])", re.IGNORECASE)
_OTHER_ENDS = (  # openings, and what ends them
    (re.compile("<!--"), re.compile("--!?>")),
    (re.compile("</?[A-Za-z]"), re.compile(r"\Z")),  # an unclosed tag
    (re.compile("<"), re.compile(">")),  # also <![CDATA[, which is a comment outside SVG (HTML §13.2.5.42)
)


class TokenKind(Enum):
    """Token kinds. OTHER is a comment, a declaration, anything unclosed, or raw text that contains `<`."""

    TEXT = auto()
    START = auto()
    END = auto()
    OTHER = auto()


class Token(NamedTuple):
    """A token of HTML source; `name` is the lower-case tag name, or empty."""

    kind: TokenKind
    raw: str
    name: str = ""

    def attributes(self) -> Iterator[re.Match[str]]:
        """Yield a match for each attribute.

        The value is in the group `double`, `single` or `bare`, depending on its quotes.
        """
        tag = _TAG.match(self.raw)
        return _ATTRIBUTE.finditer(self.raw, *tag.span("attributes")) if tag else iter(())


def tokenize(source: str) -> Iterator[Token]:
    """Split HTML into tokens."""
    position = 0
    while position < len(source):
        markup = _MARKUP.search(source, position)
        start = markup.start() if markup else len(source)
        if start > position:
            yield Token(TokenKind.TEXT, source[position:start])
        if start == len(source):
            return
        token = _token_at(source, start)
        yield token
        position = start + len(token.raw)
        if token.kind is TokenKind.START and token.name in RAW_TEXT_ELEMENTS:
            end = _raw_text_end(source, position, token.name)
            if end is None:
                yield Token(TokenKind.OTHER, source[position:])
                return
            if text := source[position:end]:
                # A browser treats this `<` as text. The author or another parser may treat it as markup, so
                # this text stays unchanged.
                yield Token(TokenKind.OTHER if "<" in text else TokenKind.TEXT, text)
            position = end


def _raw_text_end(source: str, position: int, name: str) -> int | None:
    if name == "plaintext":
        return None
    if name == "script":
        return _script_end(source, position)
    end_tag = re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE).search(source, position)
    return end_tag.start() if end_tag else None


def _script_end(source: str, position: int) -> int | None:
    """Return the position of a script's end tag, or None.

    After `<!--` and `<script`, the next end tag belongs to a nested script (HTML §13.2.5).
    """
    is_escaped = is_double_escaped = False
    while sign := _SCRIPT_SIGN.search(source, position):
        position = sign.end()
        match sign.group().lower():
            case "<!--":
                is_escaped = True
                position -= len("--")  # `<!-->` is a complete comment
            case "-->":
                is_escaped = is_double_escaped = False
            case "<script":
                is_double_escaped = is_escaped
            case _ if not is_double_escaped:
                return sign.start()
            case _:
                is_double_escaped = False
    return None


def _token_at(source: str, start: int) -> Token:
    if tag := _TAG.match(source, start):
        kind = TokenKind.END if source.startswith("</", start) else TokenKind.START
        return Token(kind, tag.group(), tag["name"].lower())
    end = next(end for opening, end in _OTHER_ENDS if opening.match(source, start)).search(source, start + 2)
    return Token(TokenKind.OTHER, source[start : end.end() if end else None])
