"""Lines that mean something to other dialects, inside what CommonMark takes for a paragraph.

Containers (`::: tip Title`, `:::{note}`), admonitions (`!!! note "Title"`), blocks of PyMdown
(`/// note | Title`), callouts (`> [!note]- Title`), inclusions (`--8<-- "file"`, `<<< @/file`), tabs
(`=== "Title"`), definitions and tasks.
"""

import re
from collections.abc import Sequence

_VERBATIM = r':::|!!!|\?\?\?|///|;?-+8<-|<<<|===[!+]{0,2}\s"|@(?:include|import)\b|!include\b|%%'

# A line without words, except for its title.
VERBATIM_LINE = re.compile(rf"\s*(?:{_VERBATIM})")

# A line that is not joined with others.
LINE_OF_ITS_OWN = re.compile(rf"\s*(?:{_VERBATIM}|: |==\s|\||@tab\b|\[![A-Za-z]|\$\$|\{{[%{{.#:])")

# What may precede words: the mark of a definition, of a task, or of a callout.
LINE_MARK = re.compile(r"(?::|\[[ xX]\])[ \t]+|\[![A-Za-z][\w|-]{0,60}\][+-]?(?:[ \t]+|(?=\n|\Z))")

# What separates the words of a line that is a row of a table, or a line of a poem, to other readers.
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
    """Find the words of a line that is otherwise verbatim: its title, or attributes that readers see."""
    if titled := _TITLED_LINE.match(line):
        return [titled.span("title")]
    return [attribute.span("title") for attribute in _TITLE_ATTRIBUTE.finditer(line)]


def find_options(lines: Sequence[str]) -> frozenset[int]:
    """Find the lines that are options of the container before them, as in YAML or reStructuredText."""
    found: set[int] = set()
    for number, line in enumerate(lines[1:], start=1):
        before = number - 1
        if _OPTION.match(line) and (before in found or _WITH_OPTIONS.match(lines[before])):
            found.add(number)
    return frozenset(found)
