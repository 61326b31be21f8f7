"""What people may call themselves, their keys and their teams."""

from __future__ import annotations

import unicodedata

MAX_NAME_CHARACTERS = 100

# Controls, halves of surrogate pairs and line ends would break the lines of whatever lists names.
_BREAKING = {"Cc", "Cs", "Zl", "Zp"}
# Those that turn the direction of writing (UAX 9) would turn what stands beside a name.
_TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_VISIBLE = tuple("LNPS")  # letters, numbers, punctuation, symbols


def is_name(text: str) -> bool:
    """Say whether this is a name: 1 to 100 characters, one of them visible, and none that breaks a line."""
    return (
        len(text) <= MAX_NAME_CHARACTERS
        and any(unicodedata.category(character).startswith(_VISIBLE) for character in text)
        and not any(map(_is_disturbing, text))
    )


def _is_disturbing(character: str) -> bool:
    return unicodedata.category(character) in _BREAKING or unicodedata.bidirectional(character) in _TURNING
