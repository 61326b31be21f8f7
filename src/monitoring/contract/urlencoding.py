"""Percent-encoded text read strictly: bad escapes, invalid UTF-8 and U+0000 are errors, not replacements."""

import re
from urllib.parse import unquote_to_bytes

BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def decode_percent(encoded: bytes) -> str:
    """Decode one piece of text; raises ValueError."""
    if BAD_ESCAPE.search(encoded):
        raise ValueError("bad percent-encoding")
    text = (unquote_to_bytes(encoded) if b"%" in encoded else encoded).decode("utf-8")
    if "\0" in text:
        raise ValueError("U+0000")
    return text


def parse_pairs(encoded: bytes, max_pairs: int) -> list[tuple[str, str]]:
    """Read `name=value&name=value` in order, a name without a value as an empty one; raises ValueError."""
    if not encoded:
        return []
    if encoded.count(b"&") >= max_pairs:
        raise ValueError("too many pairs")
    pieces = (piece.replace(b"+", b" ").partition(b"=") for piece in encoded.split(b"&") if piece)
    return [(decode_percent(name), decode_percent(value)) for name, _, value in pieces]
