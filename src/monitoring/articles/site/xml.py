"""Escapes text for XML documents. Has no side effects."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

# https://www.w3.org/TR/xml/#charsets
_NOT_ALLOWED = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_text(text: str) -> str:
    """Escape text for XML content and double-quoted attributes. Characters that XML forbids are dropped."""
    return escape(_NOT_ALLOWED.sub("", text), {'"': "&quot;"})
