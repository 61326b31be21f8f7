"""Text for XML documents. Pure."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

# https://www.w3.org/TR/xml/#charsets
_NOT_ALLOWED = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_text(text: str) -> str:
    """Escape a text for use between tags and in attributes with double quotes."""
    return escape(_NOT_ALLOWED.sub("", text), {'"': "&quot;"})
