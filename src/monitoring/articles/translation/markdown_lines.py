"""Finds lines that have a special meaning in other dialects but are part of a paragraph in CommonMark.

Such lines are containers (`::: tip Title`, `:::{note}`), admonitions (`!!! note "Title"`), PyMdown blocks
(`/// note | Title`), callouts (`> [!note]- Title`), inclusions (`--8<-- "file"`, `<<< @/file`), tabs
(`=== "Title"`), definitions and tasks.
"""

import re
from collections.abc import Sequence

_VERBATIM = r':::|!!!|\?\?\?|///|;?-+8<-|<<<|===[!+]{0,2}\s"|@(?:include|import)\b|!include\b|%%'

# A line in which only the title is text.
VERBATIM_LINE = re.compile(rf"\s*(?:{_VERBATIM})")

# A line that is not joined to the lines before and after it.
LINE_OF_ITS_OWN = re.compile(rf"\s*(?:{_VERBATIM}|: |==\s|\||@tab\b|\[![A-Za-z]|\$\$|\{{[%{{.#:])")

# What may precede text: a definition, task or callout marker.
LINE_MARK = re.compile(r"(?::|\[[ xX]\])[ \t]+|\[![A-Za-z][\w|-]{0,60}\][+-]?(?:[ \t]+|(?=\n|\Z))")

# Separators in a line that other parsers treat as a table row or a line block.
PIPES = re.compile(r"([ \t]*\|[ \t]*)")

_TITLED_LINE = re.compile(
    r"""\s*(?:(?:!!!|\?\?\?\+?)\s*[\w-][\w -]{0,100}\s"|===[!+]{0,2}\s"|/{3,9}\s*(?!html\b)[\w-]{1,60}\s*\|\s*
    |:{3,9}\s*[\w-]{1,60}(?:\[|[ \t]+(?![{ \t]|[\w:.-]{1,60}=)))
    (?P<title>[^\n]{1,1000}?)(?:"?|\](?:\{[^{}\n]{0,200}\})?|\{[^{}\n]{0,200}\})\s*$""",
    re.VERBOSE,
)
_TITLE_ATTRIBUTE = re.compile(
    r"""(?<![\w-])(?:title|alt|alt-text|caption|label|summary)=(?P<quote>["'])(?P<title>(?:(?!(?P=quote))[^\n]){1,1000})"""
)
_WITH_OPTIONS = re.compile(r"\s*(?:///|:{3,9}\s*\{)")
_OPTION = re.compile(r"(?:[ ]{4,}|\t)\S|\s*:[\w-]{1,60}:(?:\s|$)")


def find_titles(line: str) -> list[tuple[int, int]]:
    """Return the spans of reader-visible text in a verbatim line: its title, or attributes such as `alt`."""
    if titled := _TITLED_LINE.match(line):
        return [titled.span("title")]
    return [attribute.span("title") for attribute in _TITLE_ATTRIBUTE.finditer(line)]


def find_options(lines: Sequence[str]) -> frozenset[int]:
    """Return the numbers of lines that contain a container's options, in YAML or reStructuredText."""
    found: set[int] = set()
    for number, line in enumerate(lines[1:], start=1):
        before = number - 1
        if _OPTION.match(line) and (before in found or _WITH_OPTIONS.match(lines[before])):
            found.add(number)
    return frozenset(found)
