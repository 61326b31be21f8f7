"""Strict percent-decoding: malformed escapes and invalid UTF-8 raise errors."""

import re
from urllib.parse import unquote_to_bytes

from monitoring.contract.strict_json import REPLACEMENT

PERCENT_SIGN = ord("%")
BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def decode_percent(encoded: bytes) -> str:
    """Decode percent-encoded UTF-8. Raises ValueError if it is malformed."""
    if PERCENT_SIGN not in encoded:
        return encoded.decode("utf-8")
    if BAD_ESCAPE.search(encoded):
        raise ValueError("bad percent-encoding")
    return unquote_to_bytes(encoded).decode("utf-8")


def parse_pairs(encoded: bytes, max_pairs: int) -> list[tuple[str, str]]:
    """Parse `name=value&name=value` to pairs in order. A missing value is an empty string.

    U+0000 becomes U+FFFD, as in JSON. Raises ValueError if the text is malformed or has too many pairs.
    """
    if not encoded:
        return []
    if encoded.count(b"&") >= max_pairs:
        raise ValueError("too many pairs")
    pieces = (piece.replace(b"+", b" ").partition(b"=") for piece in encoded.split(b"&") if piece)
    return [(_decode_text(name), _decode_text(value)) for name, _, value in pieces]


def _decode_text(encoded: bytes) -> str:
    return decode_percent(encoded).replace("\0", REPLACEMENT)
