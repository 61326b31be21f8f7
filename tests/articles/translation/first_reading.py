"""Reads Markdown for the first time. Wherever a library fills a table, a fork reads too, as a thread might.

All lines it writes should be the same.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from monitoring.app.articles.markdown import render_markdown
from monitoring.articles.translation.markdown_source import read_markdown
from monitoring.articles.translation.segments import Segment

if TYPE_CHECKING:
    from types import CodeType, FrameType

FILL_TABLES = ("__compile__", "get_encode_cache", "get_decode_cache")
SOURCE = "> *Fit* **shoes** from [the shop](/a%20b), <https://shop.example.com/>\n\n| a |\n| - |\n| b |\n"

visited: set[tuple[CodeType, int, int]] = set()


def read() -> str:
    """Return what the translation finds in the source, and how the app shows it."""
    try:
        template, _ = read_markdown(SOURCE)
        return f"{[part.text for part in template if isinstance(part, Segment)]} {render_markdown(SOURCE)!r}"
    except Exception as error:  # noqa: BLE001 - any would be a finding
        return repr(error)


def read_at_each_line(frame: FrameType, event: str, _: Any) -> Any:
    """Read at each line of these functions, before it first runs for an object."""
    if frame.f_code.co_name not in FILL_TABLES:
        return None
    place = frame.f_code, frame.f_lineno, id(frame.f_locals.get("self"))
    if event == "line" and place not in visited:
        visited.add(place)
        if not (child := os.fork()):
            sys.stdout.write(f"{read()}\n")
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(child, 0)
    return read_at_each_line


sys.settrace(read_at_each_line)
last = read()
sys.settrace(None)
sys.stdout.write(f"{last}\n")
