"""Finds the encoding that a page declares, as browsers do. Has no side effects.

A byte order mark takes precedence over every declaration (Encoding standard, "decode"). This module ignores
byte order marks, because `webencodings.IncrementalDecoder` evaluates them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.message import Message

import webencodings
from webencodings import Encoding

# A page must declare its encoding within this many bytes (HTML standard, "prescan a byte stream").
DECLARING_BYTES = 1024

_XML = re.compile(rb"""<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"'>]*)["']""")
# Matches complete comments and tags, so that nothing inside a comment or an attribute value counts as a tag.
_COMMENT_OR_TAG = re.compile(
    rb"""<!-(?:->|-.*?-->)|<(/?[a-z][^\s/>]*)((?:[^>"']|"[^"]*"|'[^']*')*)>""", re.DOTALL | re.IGNORECASE
)
_ATTRIBUTE = re.compile(rb"""([^\s=/>"']+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""")
_CHARSET_IN_CONTENT = re.compile(rb"""charset\s*=\s*["']?([^\s;"']+)""", re.IGNORECASE)


def find_named_encoding(content_type: str) -> Encoding | None:
    """Return the encoding whose label (Encoding standard) is the charset of a Content-Type, or None."""
    message = Message()
    message["Content-Type"] = content_type
    charset = message.get_param("charset")
    return webencodings.lookup(charset) if isinstance(charset, str) else None


def may_declare_encoding(content_type: str) -> bool:
    """Return whether pages of this type can declare an encoding: HTML, XML, and pages without a type."""
    return not content_type or "html" in content_type.lower() or "xml" in content_type.lower()


def find_declared_encoding(beginning: bytes) -> Encoding | None:
    """Return the encoding of the first <meta> element that declares one, or else of the XML declaration."""
    beginning = beginning[:DECLARING_BYTES]
    # A UTF-16 page without a byte order mark is recognised by the beginning of its XML declaration.
    for first, label in ((b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be")):
        if beginning.startswith(first):
            return webencodings.lookup(label)
    for label in _declared_labels(beginning):
        if declared := webencodings.lookup(label):
            return _as_it_can_be(declared)
    return None


def _declared_labels(beginning: bytes) -> Iterator[str]:
    for tag in _COMMENT_OR_TAG.finditer(beginning):
        if tag[1] and tag[1].lower() == b"meta":
            given = {name.lower(): b"".join(values) for name, *values in _ATTRIBUTE.findall(tag[2])}
            if b"charset" in given:
                yield given[b"charset"].decode("latin-1")
            elif given.get(b"http-equiv", b"").lower() == b"content-type":
                for charset in _CHARSET_IN_CONTENT.findall(given.get(b"content", b"")):
                    yield charset.decode("latin-1")
    if declaration := _XML.match(beginning):
        yield declaration[1].decode("latin-1")


def _as_it_can_be(declared: Encoding) -> Encoding:
    """Return the encoding that browsers use for a declared encoding.

    The HTML standard ("prescan a byte stream") replaces UTF-16 with UTF-8, because a declaration that was
    read as ASCII cannot be in UTF-16. It also replaces x-user-defined with windows-1252.
    """
    corrected = {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}
    return webencodings.lookup(corrected.get(declared.name, declared.name)) or declared
