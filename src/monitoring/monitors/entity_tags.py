"""ETags of monitors: the version of the configuration, which clients move and checks do not."""

from __future__ import annotations

import re

_ENTITY_TAG = re.compile(r'(?:W/)?"[^"]*"')


def entity_tag(version: int) -> str:
    """Write a strong entity tag."""
    return f'"{version}"'


def is_current(if_match: str | None, version: int) -> bool:
    """Say whether a precondition holds. Comparison is strong: `W/"1"` matches nothing (RFC 9110 §13.1.1)."""
    if if_match is None or if_match == "*":
        return True
    return entity_tag(version) in _ENTITY_TAG.findall(if_match)
