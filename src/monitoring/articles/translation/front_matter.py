"""Finds a Markdown document's front matter.

No Markdown parser is loaded for this, because a parser is large.
"""

import json
import re

_BYTE_ORDER_MARK = "\ufeff"
_FRONT_MATTER = re.compile(  # `---` begins YAML, or another language as in `---json`; `+++` begins TOML
    r"(?:---[ \t]*(?:[a-z]{1,10}[ \t]*)?\r?\n(?s:.*?)^(?:---|\.\.\.)|\+\+\+[ \t]*\r?\n(?s:.*?)^\+\+\+)"
    r"[ \t]*(?:\r?\n|\Z)",
    re.MULTILINE,
)
_LINE_END = re.compile(r"[ \t]*(?:\r?\n|\Z)")


def front_matter_length(source: str) -> int:
    """Return the length of the YAML, TOML or JSON front matter, including a byte order mark before it."""
    start = len(_BYTE_ORDER_MARK) if source.startswith(_BYTE_ORDER_MARK) else 0
    if front_matter := _FRONT_MATTER.match(source, start):
        return front_matter.end()
    return _json_end(source, start) or start


def _json_end(source: str, start: int) -> int | None:
    """Return the end of the JSON object at `start`, or None.

    Returns None if there is no JSON object, or if text follows on the line where the object ends.
    """
    if not source.startswith("{", start):
        return None
    try:
        _, end = json.JSONDecoder().raw_decode(source, start)
    except (ValueError, RecursionError):
        return None
    line_end = _LINE_END.match(source, end)
    return line_end.end() if line_end else None
