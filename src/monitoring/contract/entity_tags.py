"""Entity tags, and what clients make depend on them (RFC 9110 §8.8.3, §13.1.1 and §13.1.2).

A tag changes whenever the body does. The tag of something that clients change and that also changes by itself
has two parts, `"version.digest"`, of which `If-Match` compares the first: no check makes a client's write
fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256

from monitoring.contract.problems import Problem

_BETWEEN_COMMAS = re.compile(r'(?:[^,"]|"[^"]*"?)+')
_QUOTED = re.compile(r'"([^"]*)"')
_WEAK = "W/"


def write_tag(body: bytes, version: str = "") -> str:
    """Return a strong tag of a body, and of the version of what clients can change."""
    digest = sha256(body).hexdigest()[:32]
    return f'"{version}.{digest}"' if version else f'"{digest}"'


def version_of(updated_at: datetime) -> str:
    """Return the version of what has no other version than the time of its last change."""
    return f"{updated_at:%Y%m%dT%H%M%S%fZ}"


def is_known(tag: str, if_none_match: str | None) -> bool:
    """Return whether the client has it already. The comparison is weak (RFC 9110 §13.1.2)."""
    if if_none_match is None:
        return False
    return if_none_match == "*" or tag in {each.removeprefix(_WEAK) for each in _tags_in(if_none_match)}


def is_current(if_match: str | None, version: str) -> bool:
    """Return whether `If-Match` names the version, or is absent. Raises Problem for a weak tag that it has.

    Clients often lose the quotes of a tag, and those of 0.1.0 know tags that are only a version: both are
    taken. A weak tag, which a proxy that compresses makes of ours, matches nothing (RFC 9110 §13.1.1).
    """
    if if_match is None or if_match == "*":
        return True
    tags = list(_tags_in(if_match))
    if version in map(_version_of, tags):
        return True
    if any(tag.startswith(_WEAK) for tag in tags):
        raise Problem("weak_entity_tag")
    return False


def _tags_in(header: str) -> Iterator[str]:
    return map(str.strip, _BETWEEN_COMMAS.findall(header))


def _version_of(tag: str) -> str:
    quoted = _QUOTED.fullmatch(tag)
    return (quoted[1] if quoted else tag).partition(".")[0]
