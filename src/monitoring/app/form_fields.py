"""Entries that people type into one field, with commas or spaces between them."""

from __future__ import annotations

import re

_ENTRY = re.compile(r"[^,\s]+")


def split_entries(text: str) -> list[str]:
    """Return the entries as they were typed."""
    return _ENTRY.findall(text)


def read_tags(text: str) -> list[str]:
    """Return the entries as tags, which have no capitals."""
    return split_entries(text.lower())
