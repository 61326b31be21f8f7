"""Decodes and escapes Markdown text by context, so that translated text does not become markup."""

import html
import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from monitoring.articles.translation.segmentation import Format
from monitoring.articles.translation.untranslated import opaque_pattern

# Only opening brackets are escaped. A closing bracket alone has no effect, and if both were escaped, they
# would look like a formula. A colon directly before a non-ASCII letter is escaped, because it could start
# a directive. Translations into languages without spaces may have such colons.
_INLINE_SYNTAX = re.compile(r"[\\`*\[<>|~]|(?<!\w)_|_(?!\w)|&(?=#?\w{1,32};)|:(?=[^\W\x00-\x7f])")
_OTHER_SIGN = re.compile(r"""\\(["#$%'+,./:;=?@^_{}&!-])""")  # authors escape these for other parsers
_BLOCK_SYNTAX = re.compile(r"^(?:#{1,6}(?=\s|$)|[+-](?=\s|$)|(?:=+|-+)(?=\s*$)|\d{1,9}(?=[.)](?:\s|$)))")
_QUOTES = re.compile("[\"'()]")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])|(&#?\w{1,32};)")

_SYNTAX_IN_HTML = re.compile(
    r"""[\\`*|~{}]|(?<!\w)_|_(?!\w)|^\#(?=\#{0,5}(?:\s|$))|^[+-](?=\s|[=-]*\s*$)|^=(?==*\s*$)"""
)
_NUMBER_IN_HTML = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_DELIMITERS_IN_HTML = re.compile(r"[\[\]()]")


class Formats(NamedTuple):
    """The formats of the text in a paragraph, which depend on where the text is."""

    brand_names: tuple[str, ...]
    words: Format
    label: Format  # an image's alternative text
    title: Format  # a link's title
    line_title: Format  # a container's title


def choose_formats(
    brand_names: tuple[str, ...], content: str, *, is_in_html: bool, has_brackets: bool
) -> Formats:
    """Return the formats of a paragraph.

    In HTML, text is escaped with character references, which also work where Markdown is not parsed. If the
    source text has brackets, another parser may give them a meaning, so brackets are not escaped. A sign that
    the source text always escapes, such as `^` or `=`, is escaped in translations, too.
    """
    escaped = frozenset(_OTHER_SIGN.findall(content)) if "\\" in content else frozenset()
    bare = _OTHER_SIGN.sub("", content) if escaped else ""
    signs = "".join(sorted(sign for sign in escaped if sign not in bare))
    return _make_formats(brand_names, signs, is_in_html=is_in_html, has_brackets=has_brackets)


@lru_cache(maxsize=64)
def _make_formats(
    brand_names: tuple[str, ...], signs: str, *, is_in_html: bool, has_brackets: bool
) -> Formats:
    opaque = opaque_pattern(brand_names)
    pattern = _INLINE_SYNTAX.pattern.replace("\\[", "") if has_brackets else _INLINE_SYNTAX.pattern
    syntax = re.compile(f"{pattern}|[{re.escape(signs)}]" if signs else pattern)

    def make(escape: Callable[[str], str], *, links_bare_addresses: bool = False) -> Format:
        return Format(decode, escape, opaque, links_bare_addresses=links_bare_addresses)

    if is_in_html:
        strict = make(_refer_to_all)
        words = make(_refer if has_brackets else _refer_to_brackets, links_bare_addresses=True)
        return Formats(brand_names, words, strict, strict, strict)
    return Formats(
        brand_names=brand_names,
        words=make(lambda text: _escape(text, syntax), links_bare_addresses=True),
        label=make(lambda text: _escape(text).replace("]", "\\]")),
        title=make(lambda text: _QUOTES.sub(r"\\\g<0>", _escape(text))),
        line_title=make(lambda text: _escape(text).replace("]", "\\]").replace('"', "&quot;")),
    )


def decode(raw: str) -> str:
    """Return the text that Markdown displays."""
    return _ESCAPED.sub(lambda escaped: escaped[1] or html.unescape(escaped[2]), raw)


def _escape(text: str, syntax: re.Pattern[str] = _INLINE_SYNTAX) -> str:
    text = syntax.sub(r"\\\g<0>", text)
    return _BLOCK_SYNTAX.sub(lambda start: f"{start[0]}\\" if start[0].isdigit() else f"\\{start[0]}", text)


def _reference(sign: re.Match[str]) -> str:
    return f"&#{ord(sign[0])};"


def _refer(text: str) -> str:
    return _without_syntax(html.escape(text, quote=False))


def _without_syntax(text: str) -> str:
    text = _SYNTAX_IN_HTML.sub(_reference, text)
    return _NUMBER_IN_HTML.sub(lambda number: f"{number[1]}&#{ord(number[2])};", text)


def _refer_to_brackets(text: str) -> str:
    return _refer(text).replace("[", "&#91;")


def _refer_to_all(text: str) -> str:
    return _DELIMITERS_IN_HTML.sub(_reference, _without_syntax(html.escape(text)))
