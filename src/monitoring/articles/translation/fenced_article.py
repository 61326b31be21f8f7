"""Removes the code fence that a language model has put around a whole article."""

import re

_FENCED = re.compile(
    r"\s*(?P<fence>`{3,9}|~{3,9})[ \t]*(?P<language>markdown|md|mdx|html)[ \t]*\r?\n(?P<text>.*)\n(?P=fence)",
    re.DOTALL | re.IGNORECASE,
)


def unwrapped(text: str) -> str:
    """Return the text without the code fence around it, if there is one that is labelled Markdown or HTML.

    The fence is kept if a nested opening fence names no language, because Markdown would treat the nested
    fence as the end of the outer fence.
    """
    fenced = _FENCED.fullmatch(text.rstrip())
    if not fenced:
        return text
    within = re.findall(rf"^ {{0,3}}{fenced['fence']}(.*)$", fenced["text"], re.MULTILINE)
    has_pairs = all(within[::2]) and not any(map(str.strip, within[1::2])) and len(within) % 2 == 0
    return fenced["text"].rstrip("\r") if has_pairs else text
