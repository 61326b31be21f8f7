"""Unwraps an article that a model has put into one fence as a whole, as if it were an example of code."""

import re

_FENCED = re.compile(
    r"\s*(?P<fence>`{3,9}|~{3,9})[ \t]*(?P<language>markdown|md|mdx|html)[ \t]*\r?\n(?P<text>.*)\n(?P=fence)",
    re.DOTALL | re.IGNORECASE,
)


def unwrapped(text: str) -> str:
    """Return the text without the fence around all of it, if that says that it holds Markdown or HTML.

    Fences within name a language. One that does not would be the end of the fence at the beginning.
    """
    fenced = _FENCED.fullmatch(text.rstrip())
    if not fenced:
        return text
    within = re.findall(rf"^ {{0,3}}{fenced['fence']}(.*)$", fenced["text"], re.MULTILINE)
    has_pairs = all(within[::2]) and not any(map(str.strip, within[1::2])) and len(within) % 2 == 0
    return fenced["text"].rstrip("\r") if has_pairs else text
