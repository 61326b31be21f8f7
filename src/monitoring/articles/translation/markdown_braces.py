"""Finds the end of brace expressions in MDX and templates: `{…}`, and tags with braces in attributes.

Braces in JavaScript strings, templates and comments are ignored. If no closing brace is found that way, the
search is repeated with all braces, because what looked like a quotation mark may be an apostrophe. Hostile
text takes linear time, because the search stops at an unrealistic nesting depth.
"""

import re

_MOST_LEVELS = 20

_BRACE = re.compile(r"[{}]")
_BRACE_OR_STRING = re.compile(
    r"""[{}]
    |`(?>(?s:[^`\\]|\\.){0,20000})`
    |"(?>(?:[^"\\\n]|\\.){0,2000})"|'(?>(?:[^'\\\n]|\\.){0,2000})'
    |/\*(?s:.){0,5000}?\*/""",
    re.VERBOSE,
)
_TAG_NAME = re.compile(r"<[A-Za-z][\w.:-]{0,100}+(?=[\s{/>])")
_ATTRIBUTES = re.compile(r"""(?>(?:[\s/]|[\w.:@-]{1,200}+(?:\s?=\s?)?|"[^"]{0,5000}+"|'[^']{0,5000}+')*)""")
_CLOSING_OF_MEMBER = re.compile(r"</[A-Za-z][\w-]*\.[\w.-]*\s*+>")


def braces_end(source: str, start: int, end: int) -> int | None:
    """Return the end of the braces that open at `start`, or None if they do not close before `end`."""
    found = _matching(_BRACE_OR_STRING, source, start, end)
    return found if found is not None else _matching(_BRACE, source, start, end)


def _matching(sign: re.Pattern[str], source: str, start: int, end: int) -> int | None:
    level = 0
    for brace in sign.finditer(source, start, end):
        level += {"{": 1, "}": -1}.get(brace[0], 0)
        if not level:
            return brace.end()
        if level > _MOST_LEVELS:
            return None
    return None


def tag_end(source: str, start: int, end: int) -> int | None:
    """Return the end of a tag that begins at `start` and is not HTML, or None.

    A tag is not HTML if it has braces in its attributes, or a dot in its name.
    """
    if closing := _CLOSING_OF_MEMBER.match(source, start, end):
        return closing.end()
    name = _TAG_NAME.match(source, start, end)
    if not name:
        return None
    position, is_known = name.end(), "." not in name[0]
    while attributes := _ATTRIBUTES.match(source, position, end):
        position = attributes.end()
        if not source.startswith("{", position):
            break
        after = braces_end(source, position, end)
        if after is None:
            return None
        position, is_known = after, False
    return position + 1 if position < end and source[position] == ">" and not is_known else None
