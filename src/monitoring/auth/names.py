"""Validation of the names of people, keys and teams, and default names."""

from __future__ import annotations

import unicodedata

from monitoring.contract.configurations import Configuration
from monitoring.outbound.hosts import host_of

# Also the maximum length of the document's `name` fields.
MAX_NAME_CHARACTERS = 100

# The Unicode categories of control characters, lone surrogates and line breaks, which would garble a list of
# names.
_BREAKING = {"Cc", "Cs", "Zl", "Zp"}
# Characters that change the writing direction (UAX 9) would also affect the text beside a name.
_TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_VISIBLE = tuple("LNPS")  # letters, numbers, punctuation, symbols


def is_name(text: str) -> bool:
    """Return whether `text` is a valid name: 1 to 100 characters, at least one visible, no line breaks."""
    return (
        len(text) <= MAX_NAME_CHARACTERS
        and any(unicodedata.category(character).startswith(_VISIBLE) for character in text)
        and not any(map(_is_disturbing, text))
    )


def name_after_host(configuration: Configuration) -> str:
    """Return the host of a configuration's URL as a default name, cut to the maximum length."""
    return host_of(configuration["url"])[:MAX_NAME_CHARACTERS]


def _is_disturbing(character: str) -> bool:
    return unicodedata.category(character) in _BREAKING or unicodedata.bidirectional(character) in _TURNING
