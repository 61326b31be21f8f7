"""ETags of monitors: the configuration's version, which clients change and checks do not."""

from __future__ import annotations

import re

_BETWEEN_COMMAS = re.compile(r'(?:[^,"]|"[^"]*"?)+')


def entity_tag(version: int) -> str:
    """Return a strong entity tag."""
    return f'"{version}"'


def is_current(if_match: str | None, version: int) -> bool:
    """Return whether a precondition holds. Comparison is strong: `W/"1"` matches nothing (RFC 9110 §13.1.1).

    Clients often lose the quotes of a tag, so it also matches without them.
    """
    if if_match is None or if_match == "*":
        return True
    tags = map(str.strip, _BETWEEN_COMMAS.findall(if_match))
    return any(tag in (entity_tag(version), str(version)) for tag in tags)
